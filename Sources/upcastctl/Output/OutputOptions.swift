import ArgumentParser
import ControlClient
import ControlProtocol

/// For people, or for programs.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print the daemon's own JSON.")
    var json = false

    /// Prints an answer as JSON, where that is asked for.
    func show(_ answer: JSONValue) { if json { Self.print(answer) } }

    static func print(_ answer: JSONValue, pretty: Bool = true) {
        Output.line(TerminalText.printable(json: answer.serialized(pretty: pretty)))
    }
}
