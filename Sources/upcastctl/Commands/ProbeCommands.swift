import ArgumentParser
import ControlClient
import ControlProtocol

struct HealthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Asks whether the daemon is in order: exit status 0 if so, 1 if not.",
        discussion: "For the health check of a container or a supervisor.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws { try Probe.run("/healthz", saying: "healthy", control, output) }
}

struct ReadyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ready",
        abstract: "Asks whether the daemon takes, or has, a broadcast: exit status 0 if so, 1 if not.",
        discussion: "For whoever waits until clients can connect.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws { try Probe.run("/readyz", saying: "ready", control, output) }
}

/// A question to the daemon with the answer yes (200) or no (503, with a reason).
enum Probe {
    static func run(
        _ target: String, saying word: String, _ control: ControlOptions, _ output: OutputOptions
    ) throws {
        let answer = try control.client().exchange("GET", target)
        guard answer.status == 200 || answer.status == 503 else { throw ControlClient.refusal(answer) }
        let json = try ControlClient.json(answer)
        let isSo = answer.status == 200
        // Anybody's 200, or 503, is not this daemon's.
        guard isSo ? json["status"] != nil : !ErrorReport(json: json).message.isEmpty else {
            throw ControlClientError.unintelligible("it does not say how the daemon is; something else answers there")
        }
        if output.json {
            OutputOptions.print(json)
        } else if isSo {
            Output.line(word)
        } else {
            Output.line(TerminalText.printable("not \(word): \(ErrorReport(json: json).message)"))
        }
        if !isSo { throw ExitCode(ExitStatus.refused.rawValue) }
    }
}
