import ArgumentParser
import ControlClient
import ControlProtocol

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
