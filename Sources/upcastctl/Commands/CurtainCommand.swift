import ArgumentParser
import ControlClient
import ControlProtocol

struct CurtainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "curtain",
        abstract: "Raise and lower the curtain.",
        discussion: """
            While the curtain is up, viewers see it in place of the picture and hear nothing. It stays up until the \
            last hold is released.
            """,
        subcommands: [CurtainUpCommand.self, CurtainDownCommand.self, CurtainReleaseCommand.self])
}

struct CurtainUpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Raise the curtain, or add a hold.",
        discussion: "After the command returns, no earlier packet is sent. It prints what was sent before.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "Hold the curtain for this app, not as an operator.") var app: String?
    @Option(help: "Reason, for the log and the status.") var reason: String?

    func run() throws {
        var request = CurtainUpRequest()
        (request.app, request.reason) = (app, reason)
        let answer = try control.client().ask("POST", "/curtain/up", body: request.json)
        output.show(answer)
        guard !output.json else { return }
        let report = CurtainUpAnswer(json: answer).report
        for last in report.lastPTS {
            let name = TerminalText.printable(last.destination)
            let time = last.milliseconds.map { "sent up to \(Quantity.time($0))" }
            Output.line("\(name): \(time ?? "nothing was sent")")
        }
        guard let time = report.keptUntil else { return }
        Output.line(
            "older packets are still sent, up to \(Quantity.time(time)) (privacy.take_back_newer_than_ms)")
    }
}

struct CurtainDownCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "down",
        abstract: "Release a hold; without other holds, the curtain falls.",
        discussion: "Exit status 1 means that others keep the curtain up; the message names them.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "Release the hold of this app, not of operators.", completion: Completion.apps) var app: String?
    @Option(help: "User ID of the app, if several users have an app with this name.") var user: Int?
    @Option(help: "Reason, for the log.") var reason: String?
    @Flag(help: "Release all holds.") var force = false

    func run() throws {
        var request = CurtainDownRequest()
        (request.app, request.user, request.reason, request.force) = (app, user, reason, force)
        let client = try control.client()
        let json = try client.ask("POST", "/curtain/down", body: request.json)
        output.show(json)
        let answer = CurtainDownAnswer(json: json)
        if !answer.isReleased, !output.json {
            let who =
                app.map { "app \(TerminalText.printable($0)) had no hold" }
                ?? (force ? "there was no hold" : "no operator had a hold")
            Output.line("\(who); nothing changed")
        }
        guard answer.isUp else { return }
        Output.note(Self.stillUp((try? client.get("/status")).map { StatusReport(json: $0).privacy }))
        throw ExitCode(ExitStatus.refused.rawValue)
    }

    /// Who keeps the curtain up.
    ///
    /// - Parameter privacy: nil if the daemon did not say.
    static func stillUp(_ privacy: PrivacyStatus?) -> String {
        guard let privacy, privacy.curtain.isUp else { return "others keep the curtain up" }
        let holders = StatusText.holders(privacy)
        return TerminalText.printable("the curtain is still up, held by \(holders); --force releases all holds")
    }
}

struct CurtainReleaseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Show the capture without waiting for consulted apps.",
        discussion: "Other holds keep the curtain up; see upcastctl status.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "Do not wait for this app (default: for no app).") var app: String?
    @Option(help: "User ID of the app, if several users have an app with this name.") var user: Int?

    func run() throws {
        let client = try control.client()
        var request = ReleaseRequest()
        if app != nil {
            (request.app, request.user) = (app, user)
            // The current capture; the answer of an app must name its capture.
            request.capture = try StateCommand.state(client.ask("GET", "/state")).capture
        }
        let answer = try client.ask("POST", "/state/release", body: request.json)
        output.show(answer)
        guard !ReleaseAnswer(json: answer).isReleased else { return }
        let who = app.map { "app \($0) was not" } ?? "no app was"
        Output.note(TerminalText.printable("\(who) waited for; nothing changed"))
        throw ExitCode(ExitStatus.refused.rawValue)
    }
}
