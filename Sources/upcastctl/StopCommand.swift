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
