import ArgumentParser
import ControlClient

struct DestinationRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Ends a destination in order, while the others go on.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Its name.") var name: String

    func run() throws {
        output.show(
            try control.client().ask("DELETE", "/destinations?name=\(ControlClient.escaped(name))"))
    }
}
