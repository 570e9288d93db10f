import ArgumentParser
import ControlClient
import ControlProtocol

struct HealthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Check that the daemon is healthy. Exit status: 0 healthy, 1 not healthy.",
        discussion: "Use it as the health check of a container or supervisor.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws { try Probe.run("/healthz", saying: "healthy", control, output) }
}

struct ReadyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ready",
        abstract: "Check that the daemon accepts or has a broadcast. Exit status: 0 ready, 1 not ready.",
        discussion: "Use it to wait until clients can connect.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws { try Probe.run("/readyz", saying: "ready", control, output) }
}

/// A health check: the daemon answers yes (200) or no (503, with a reason).
enum Probe {
    static func run(
        _ target: String, saying word: String, _ control: ControlOptions, _ output: OutputOptions
    ) throws {
        let client = try control.client()
        let answer = try client.exchange("GET", target)
        guard answer.status == 200 || answer.status == 503 else { throw client.refusal(answer) }
        let json = try ControlClient.json(answer)
        let isSo = answer.status == 200
        // Another server may answer 200 or 503 as well.
        guard isSo ? json["status"] != nil : !ErrorReport(json: json).message.isEmpty else {
            throw ControlClientError.unintelligible("it has no status; something else answers there")
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
