import ArgumentParser
import ControlClient
import ControlProtocol

struct DestinationListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Shows every destination with its state.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let json = try control.client().get("/destinations")
        guard !output.json else { return OutputOptions.print(json) }
        // The list has the form that it has in the status.
        for destination in StatusReport(json: json).destinations {
            Output.line(
                TerminalText.printable("\(destination.name)  \(destination.state.rawValue)  \(destination.url)"))
        }
    }
}
