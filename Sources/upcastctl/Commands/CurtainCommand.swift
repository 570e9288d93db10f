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
        var request = CurtainUpRequest()
        (request.app, request.reason) = (app, reason)
        let answer = try control.client().ask("POST", "/curtain/up", body: request.json)
        output.show(answer)
        guard !output.json else { return }
        let report = CurtainUpAnswer(json: answer).report
        for last in report.lastPTS {
            let name = TerminalText.printable(last.destination)
            let time = last.milliseconds.map { "gone out up to \(Quantity.time($0))" }
            Output.line("\(name): \(time ?? "nothing had gone out")")
        }
        guard let time = report.keptUntil else { return }
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
        var request = CurtainDownRequest()
        (request.app, request.user, request.reason, request.force) = (app, user, reason, force)
        let json = try control.client().ask("POST", "/curtain/down", body: request.json)
        output.show(json)
        guard !output.json else { return }
        let answer = CurtainDownAnswer(json: json)
        if !answer.isReleased {
            let who =
                app.map { "no app \(TerminalText.printable($0))" } ?? (force ? "nobody" : "no operator")
            Output.line("\(who) held it up: nothing has changed")
        }
        if answer.isUp { Output.line("others hold it up: see upcastctl status") }
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
        var request = ReleaseRequest()
        if app != nil {
            (request.app, request.user) = (app, user)
            // The one that is: an answer for an app names its capture.
            request.capture = try StateCommand.state(client.ask("GET", "/state")).capture
        }
        let answer = try client.ask("POST", "/state/release", body: request.json)
        output.show(answer)
        guard !output.json, !ReleaseAnswer(json: answer).isReleased else { return }
        Output.line("nobody is waited for: nothing has changed")
    }
}
