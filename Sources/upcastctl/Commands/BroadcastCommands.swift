import ArgumentParser
import ControlClient

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

    func run() throws { output.show(try control.client().ask("POST", "/resume")) }
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
    @Argument(help: "Name of the destination (default: all).") var name: String?

    func run() throws {
        let query = name.map { "?name=\(ControlClient.escaped($0))" } ?? ""
        output.show(try control.client().ask("POST", "/destinations/retry\(query)"))
    }
}
