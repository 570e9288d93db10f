import ArgumentParser
import ControlClient
import ControlProtocol
import LinuxSystem

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show the current configuration, or check a file.",
        subcommands: [ConfigShowCommand.self, ConfigCheckCommand.self],
        defaultSubcommand: ConfigShowCommand.self)
}

struct ConfigShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show all keys of the running daemon, without secrets.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let json = try control.client().get("/config")
        if output.json {
            OutputOptions.print(json)
        } else {
            Output.write(Array(Self.text(json).utf8))
        }
    }

    /// `section.key = value`, one per line, for grep.
    static func text(_ json: JSONValue, _ path: String = "") -> String {
        switch json {
        case .object(let members) where !members.isEmpty:
            members.map { text($0.value, path.isEmpty ? $0.name : "\(path).\($0.name)") }.joined()
        case .array(let items) where !items.isEmpty:
            items.enumerated().map { text($1, "\(path)[\($0)]") }.joined()
        default:
            TerminalText.printable(path) + " = " + TerminalText.printable(json: json.serialized()) + "\n"
        }
    }
}

struct ConfigCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a configuration as upcastd does at start. Exit status: 0 valid, 1 invalid.",
        discussion: """
            Run upcastd --check-config with the current environment, which includes variables such as \
            UPCAST_VIDEO_WIDTH. upcastd must be in the folder of upcastctl or in PATH.
            """)
    @Argument(
        help: "Configuration file (default: $UPCAST_CONFIG; without it, defaults and environment).",
        completion: .file())
    var file: String?
    @Flag(help: "Print the result and the lines of upcastd's output as one JSON object.")
    var json = false

    func run() throws {
        let arguments = ["--check-config"] + (file.map { ["--config", $0] } ?? [])
        let upcastd = try Program.beside("upcastd")
        let status: CInt
        if json {
            let said = try Capture()
            status = try Program.run(upcastd, arguments, output: said.descriptor.raw)
            let lines = said.text.split(separator: "\n").map { JSONValue.string(String($0)) }
            OutputOptions.print(.object([.init("is_right", .bool(status == 0)), .init("messages", .array(lines))]))
        } else {
            status = try Program.run(upcastd, arguments)
        }
        if status != 0 { throw ExitCode(ExitStatus.refused.rawValue) }
    }
}
