import ArgumentParser
import ControlClient

struct StopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Ends the running broadcast in order; the daemon waits for the next.",
        discussion: "What is encoded is sent, and the client is told.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws { output.show(try control.client().ask("POST", "/stop")) }
}

struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Shows the last picture, with silence, whatever the client sends.",
        discussion: "Lasts until resume, or the end of the broadcast.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws { output.show(try control.client().ask("POST", "/pause")) }
}

struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Ends the operator's pause.",
        discussion: "A pause of the client's own stays.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws { output.show(try control.client().ask("POST", "/resume")) }
}

struct KeyframeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keyframe",
        abstract: "Makes the next frame a keyframe.",
        discussion: "A screen that stands still has it with its next repetition.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws { output.show(try control.client().ask("POST", "/keyframe")) }
}

struct RetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Destinations that wait for their next attempt make it now.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Only the one of this name.") var name: String?

    func run() throws {
        let query = name.map { "?name=\(ControlClient.escaped($0))" } ?? ""
        output.show(try control.client().ask("POST", "/destinations/retry\(query)"))
    }
}
