import ArgumentParser
import ControlClient

struct KeyframeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keyframe",
        abstract: "Makes the next frame a keyframe.",
        discussion: "A screen that stands still has it with its next repetition.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws { output.show(try control.client().ask("POST", "/keyframe")) }
}
