import ArgumentParser
import ControlClient
import ControlProtocol

struct LogLevelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log-level",
        abstract: "Set the log level until the daemon exits.",
        discussion: "upcastctl events shows events of level info and above at any log level.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Messages below this level are not logged.") var level: Level

    enum Level: String, ExpressibleByArgument, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    func run() throws {
        var request = LogLevelRequest()
        request.level = level.rawValue
        output.show(try control.client().ask("POST", "/log-level", body: request.json))
    }
}
