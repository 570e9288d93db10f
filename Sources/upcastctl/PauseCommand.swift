import ArgumentParser
import ControlClient

struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Shows the last picture, with silence, whatever the client sends.",
        discussion: "Lasts until resume, or the end of the broadcast.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws { output.show(try control.client().ask("POST", "/pause")) }
}
