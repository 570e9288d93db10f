import ArgumentParser
import ControlClient
import ControlProtocol
import LinuxSystem

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Shows the configuration in force, or checks one.",
        subcommands: [ConfigShowCommand.self, ConfigCheckCommand.self],
        defaultSubcommand: ConfigShowCommand.self)
}

struct ConfigShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows every key of the running daemon, as the file would have it; secrets are left out.")
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

    /// `section.key = value`, one a line: what grep finds.
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
        abstract: "Checks a configuration as upcastd would before it starts: exit status 0 if it is right, 1 if not.",
        discussion: """
            Runs upcastd --check-config, from beside this program or from PATH, with this environment: variables such \
            as UPCAST_VIDEO_WIDTH count.
            """)
    @Argument(
        help: "The file (default: $UPCAST_CONFIG, or the built-in defaults and the environment).", completion: .file())
    var file: String?
    @Flag(help: "Print whether it is right, and what upcastd says of it line by line, as one JSON object.")
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
