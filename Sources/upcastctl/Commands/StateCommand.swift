import ArgumentParser
import ControlClient
import ControlProtocol

struct StateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state",
        abstract: "Asks whether anything is being captured: exit status 0 if so, 1 if not.",
        discussion: """
            Where the daemon cannot be asked, or refuses to say (exit status 2), nobody knows; treat it as captured. \
            With --follow it goes on until it is interrupted, and a line says when nobody knows any more \
            ({"captured":null} with --json). \
            Where the start curtain waits for the answer of apps, the line names them.
            """)
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Flag(help: "Show each change as it comes, a line each; with --json an object a line.")
    var follow = false

    func run() throws {
        do { try ask() } catch let error as ControlClientError {
            // Whoever is refused an answer does not know either.
            Main.fail(error, json: output.json, .unreachable)
        }
    }

    private func ask() throws {
        let client = try control.client()
        if follow { return try StateFollower(client, json: output.json).run() }
        let answer = try client.ask("GET", "/state")
        let state = try Self.state(answer)
        if output.json {
            output.show(answer)
        } else {
            Output.line(Self.line(state))
        }
        if !state.isCaptured { throw ExitCode(ExitStatus.refused.rawValue) }
    }

    static func state(_ answer: JSONValue) throws(ControlClientError) -> CaptureStateReport {
        guard case .bool = answer["captured"] else {
            throw .unintelligible("it does not say whether anything is captured")
        }
        return CaptureStateReport(json: answer)
    }

    static func line(_ state: CaptureStateReport) -> String {
        guard state.isCaptured else { return "not captured" }
        let by = state.client.isEmpty ? "" : " by \(state.client)"
        let waiting = state.waitingFor.isEmpty ? "" : "; waits for \(state.waitingFor.joined(separator: ", "))"
        return TerminalText.printable(
            "captured: \(state.kind)\(by), for \(Quantity.time(state.milliseconds))\(waiting)")
    }
}
