import ArgumentParser
import ControlClient
import ControlProtocol
import LinuxSystem
import Wording

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
        abstract: "Show the keys of the running daemon, without secrets.")
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "Key or section, such as video.width or video (default: all).")
    var key: String?

    func run() throws {
        let all = try control.client().get("/config")
        guard let key else { return show(all, "") }
        guard let value = Self.value(of: key, in: all) else {
            throw ControlClientError.unusable(Self.unknown(key, all))
        }
        show(value, key)
    }

    private func show(_ json: JSONValue, _ path: String) {
        if output.json {
            OutputOptions.print(json)
        } else {
            Output.write(Array(Self.text(json, path).utf8))
        }
    }

    /// The value of a key or section. `destinations[0].url` names a key of a list.
    static func value(of key: String, in json: JSONValue) -> JSONValue? {
        var value = json
        for part in key.split(separator: ".", omittingEmptySubsequences: false) {
            let words = part.split(separator: "[", omittingEmptySubsequences: false)
            guard let member = value[String(words[0])] else { return nil }
            value = member
            for index in words.dropFirst() {
                guard index.hasSuffix("]"), let number = Int(index.dropLast()), case .array(let items) = value,
                    items.indices.contains(number)
                else { return nil }
                value = items[number]
            }
        }
        return value
    }

    static func unknown(_ key: String, _ json: JSONValue) -> String {
        let help = didYouMean(key, keys(json, "") + ["show", "check"]) ?? "upcastctl config shows all keys"
        return TerminalText.printable("the configuration has no key \"\(key)\"; \(help)")
    }

    /// All keys and sections.
    private static func keys(_ json: JSONValue, _ path: String) -> [String] {
        let own = path.isEmpty ? [] : [path]
        return switch json {
        case .object(let members):
            own + members.flatMap { keys($0.value, path.isEmpty ? $0.name : "\(path).\($0.name)") }
        case .array(let items): own + items.enumerated().flatMap { keys($1, "\(path)[\($0)]") }
        default: own
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
