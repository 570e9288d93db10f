import ArgumentParser
import ControlClient
import ControlProtocol
import Glibc
import LinuxSystem
import MediaCore

struct StopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "End the running broadcast; the daemon waits for the next one.",
        discussion: "The daemon sends queued packets and notifies the client.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws { output.show(try control.client().ask("POST", "/stop")) }
}

struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Freeze the picture and mute the sound.",
        discussion: "The pause lasts until upcastctl resume or the end of the broadcast.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws { output.show(try control.client().ask("POST", "/pause")) }
}

struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "End the operator's pause.",
        discussion: "A pause by the client continues.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let client = try control.client()
        output.show(try client.ask("POST", "/resume"))
        guard try isStillPaused(client) else { return }
        Output.note("the broadcast is still paused: the client has paused it too")
        throw ExitCode(ExitStatus.refused.rawValue)
    }

    /// The daemon needs a moment to note the end of a pause.
    private func isStillPaused(_ client: ControlClient) throws -> Bool {
        let clock = MonotonicClock()
        let deadline = clock.now() + .seconds(1)
        while StatusReport(json: try client.get("/status")).state == .paused {
            guard clock.now() < deadline else { return true }
            usleep(50_000)
        }
        return false
    }
}

struct KeyframeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keyframe",
        abstract: "Request a keyframe.",
        discussion: "For an unchanged screen, the keyframe is the next idle repeat.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws { output.show(try control.client().ask("POST", "/keyframe")) }
}

struct RetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Reconnect waiting destinations now.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Name of the destination (default: all).", completion: Completion.destinations)
    var name: String?

    func run() throws {
        let client = try control.client()
        let before = DestinationsAnswer(json: try client.get("/destinations")).destinations
        let query = name.map { "?name=\(ControlClient.escaped($0))" } ?? ""
        output.show(try client.ask("POST", "/destinations/retry\(query)"))
        guard let reason = Self.nothingToDo(before.filter { name == nil || $0.name == name }) else { return }
        Output.note(TerminalText.printable(reason))
        throw ExitCode(ExitStatus.refused.rawValue)
    }

    /// Why no destination makes an attempt now; nil if one does.
    static func nothingToDo(_ destinations: [DestinationStatus]) -> String? {
        guard !destinations.contains(where: { [.connecting, .reconnecting].contains($0.state) }) else { return nil }
        guard !destinations.isEmpty else { return "there are no destinations" }
        let states = destinations.map { "\($0.name) is \($0.state.rawValue)" }.joined(separator: ", ")
        return "no destination waits for an attempt: \(states)"
    }
}
