import ArgumentParser
import ControlClient
import ControlProtocol
import MediaCore

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Read the configuration file again. Exit status: 0 applied, 1 refused.",
        discussion: """
            Waits for the outcome, unlike SIGHUP. Destinations, webhooks, the log level, protections, gains, the \
            curtain's text and colours, tokens and a lower bitrate change at once. Canvas, encoders and buffer change \
            when the next broadcast begins. The answer names the keys that wait, and those that need a restart. If the \
            file is invalid, nothing changes.
            """)
    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    /// The daemon answers within 10 s, whatever the disk does.
    private static let patience = MediaTime.seconds(15)

    func run() throws {
        var client = try control.client()
        client.timeout = Self.patience
        let json = try client.ask("POST", "/reload")
        if output.json { return OutputOptions.print(json) }
        for line in Self.lines(ReloadAnswer(json: json)) { Output.line(TerminalText.printable(line)) }
    }

    static func lines(_ answer: ReloadAnswer) -> [String] {
        var lines = answer.applied.map { "applied: \($0)" }
        if !answer.nextBroadcast.isEmpty {
            lines.append("waits for the next broadcast: \(answer.nextBroadcast.joined(separator: ", "))")
        }
        if !answer.needRestart.isEmpty {
            lines.append("needs a restart: \(answer.needRestart.joined(separator: ", "))")
        }
        return lines.isEmpty ? ["nothing has changed"] : lines
    }
}
