import ArgumentParser
import ControlClient
import ControlProtocol

/// Text or JSON output.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print the JSON of the daemon's answer.")
    var json = false

    /// Prints an answer as JSON, if requested.
    func show(_ answer: JSONValue) { if json { Self.print(answer) } }

    static func print(_ answer: JSONValue, pretty: Bool = true) {
        Output.line(TerminalText.printable(json: answer.serialized(pretty: pretty)))
    }
}
