import ArgumentParser
import ControlClient

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
