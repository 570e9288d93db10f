import ArgumentParser
import ControlClient
import ControlProtocol

struct LogLevelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log-level",
        abstract: "Sets how much the daemon logs, until it ends.",
        discussion: "Events (upcastctl watch) are from info on, whatever the level of the log.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The least that is logged.") var level: Level

    enum Level: String, ExpressibleByArgument, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    func run() throws {
        var request = LogLevelRequest()
        request.level = level.rawValue
        output.show(try control.client().ask("POST", "/log-level", body: request.json))
    }
}
