import ArgumentParser
import ControlClient
import ControlProtocol

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
