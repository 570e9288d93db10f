import ArgumentParser
import ControlClient

struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Ends the operator's pause.",
        discussion: "A pause of the client's own stays.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws { output.show(try control.client().ask("POST", "/resume")) }
}
