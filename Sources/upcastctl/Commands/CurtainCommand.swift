import ArgumentParser
import ControlClient
import ControlProtocol

struct CurtainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "curtain",
        abstract: "Hides everything from viewers, or lets go.",
        discussion: """
            While somebody holds the curtain up, viewers see it instead of the picture, and hear nothing. It falls \
            when the last who holds it lets go.
            """,
        subcommands: [CurtainUpCommand.self, CurtainDownCommand.self, CurtainReleaseCommand.self])
}

struct CurtainUpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Raises the curtain, or holds it up as well.",
        discussion: "When it returns, nothing from before goes out any more; what had gone out is said.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "Hold it for this app, and not as an operator.") var app: String?
    @Option(help: "Why, for the log and for others.") var reason: String?

    func run() throws {
        var members: [JSONValue.Member] = []
        if let app { members.append(.init("app", .string(app))) }
        if let reason { members.append(.init("reason", .string(reason))) }
        let answer = try control.client().ask("POST", "/curtain/up", body: .object(members))
        output.show(answer)
        guard !output.json, case .object(let fields) = answer,
            case .object(let last)? = fields.first(where: { $0.name == "last_pts_ms" })?.value
        else { return }
        for destination in last {
            guard case .integer(let time) = destination.value else {
                Output.line("\(TerminalText.printable(destination.name)): nothing had gone out")
                continue
            }
            Output.line("\(TerminalText.printable(destination.name)): gone out up to \(Quantity.time(time))")
        }
        guard case .integer(let time)? = answer["kept_until_ms"] else { return }
        Output.line(
            "what is older still goes out, up to \(Quantity.time(time)): it was not to be taken back")
    }
}

struct CurtainDownCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "down", abstract: "Lets go of the curtain; it falls if nobody else holds it.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "Let go for this app, and not as an operator.") var app: String?
    @Option(help: "Of several users' apps of that name, for this user's (a number).") var user: Int?
    @Option(help: "Why, for the log.") var reason: String?
    @Flag(help: "Let go for everybody who holds it.") var force = false

    func run() throws {
        var members: [JSONValue.Member] = []
        if let app { members.append(.init("app", .string(app))) }
        if let user { members.append(.init("user", .integer(user))) }
        if let reason { members.append(.init("reason", .string(reason))) }
        if force { members.append(.init("force", .bool(true))) }
        let answer = try control.client().ask("POST", "/curtain/down", body: .object(members))
        output.show(answer)
        guard !output.json else { return }
        if answer["released"] == .bool(false) {
            let who =
                app.map { "no app \(TerminalText.printable($0))" } ?? (force ? "nobody" : "no operator")
            Output.line("\(who) held it up: nothing has changed")
        }
        if answer["up"] == .bool(true) { Output.line("others hold it up: see upcastctl status") }
    }
}

struct CurtainReleaseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Shows a capture without waiting for the answer of the apps that are consulted.",
        discussion: "Who holds the curtain up otherwise still does: see upcastctl status.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "Do not wait for this app; without it for none.") var app: String?
    @Option(help: "Of several users' apps of that name, for this user's (a number).") var user: Int?

    func run() throws {
        let client = try control.client()
        var members: [JSONValue.Member] = []
        if let app {
            // The one that is: an answer for an app names its capture.
            members = [
                .init("app", .string(app)),
                .init("capture", .integer(try StateCommand.state(client.ask("GET", "/state")).capture)),
            ]
            if let user { members.append(.init("user", .integer(user))) }
        }
        let answer = try client.ask("POST", "/state/release", body: .object(members))
        output.show(answer)
        if !output.json, answer["released"] == .bool(false) { Output.line("nobody is waited for: nothing has changed") }
    }
}
