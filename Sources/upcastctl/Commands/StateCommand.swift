import ArgumentParser
import ControlClient
import ControlProtocol

struct StateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state",
        abstract: "Check whether the screen is captured. Exit status: 0 captured, 1 not captured.",
        discussion: """
            Exit status 2 means that the daemon is unreachable or refuses to answer. The state is then unknown; assume \
            that the screen is captured. With --follow, the command runs until it is interrupted and prints a line \
            when the state is unknown ({"captured":null} with --json). If the curtain waits for consulted apps, the \
            line names them.
            """)
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Flag(help: "Print each change, one per line; with --json, one object per line.")
    var follow = false

    func run() throws {
        do { try ask() } catch let error as ControlClientError {
            // After a refusal, the state is unknown as well.
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
            throw .unintelligible("it has no capture state")
        }
        return CaptureStateReport(json: answer)
    }

    static func line(_ state: CaptureStateReport) -> String {
        guard state.isCaptured else { return "not captured" }
        let by = state.client.isEmpty ? "" : " by \(state.client)"
        let waiting = state.waitingFor.isEmpty ? "" : "; waiting for \(state.waitingFor.joined(separator: ", "))"
        return TerminalText.printable(
            "captured: \(state.kind)\(by), for \(Quantity.time(state.milliseconds))\(waiting)")
    }
}
