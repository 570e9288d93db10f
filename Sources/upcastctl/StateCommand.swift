import ArgumentParser
import ControlClient
import ControlProtocol

struct StateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state",
        abstract: "Asks whether anything is being captured: exit status 0 if so, 1 if not.",
        discussion: "Where the daemon cannot be asked (exit status 2) nobody knows; treat it as captured.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let answer = try control.client().ask("GET", "/state")
        guard case .bool = answer["captured"] else {
            throw ControlClientError.unintelligible("it does not say whether anything is captured")
        }
        let state = CaptureStateReport(json: answer)
        if output.json {
            output.show(answer)
        } else if state.isCaptured {
            let by = state.client.isEmpty ? "" : " by \(state.client)"
            let time = Quantity.time(state.milliseconds)
            Output.line(TerminalText.printable("captured: \(state.kind)\(by), for \(time)"))
        } else {
            Output.line("not captured")
        }
        if !state.isCaptured { throw ExitCode(ExitStatus.refused.rawValue) }
    }
}
