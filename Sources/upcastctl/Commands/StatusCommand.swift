import ArgumentParser
import ControlClient
import ControlProtocol
import Glibc

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the status: state, counters, drops by cause, queue, memory.",
        discussion: "On a terminal, long lines are wrapped and the state is coloured. Set NO_COLOR to disable colours.")

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Refresh every second until interrupted. upcastctl top adds charts.")
    var watch = false

    func run() throws {
        let client = try control.client()
        repeat {
            let answer = try client.get("/status")
            if output.json {
                OutputOptions.print(answer, pretty: !watch)
            } else {
                // Only a terminal can be cleared.
                let clear = watch && Output.isTerminal ? "\u{1B}[H\u{1B}[2J" : ""
                Output.write(Array((clear + Self.text(StatusReport(json: answer), isTerminal: Output.isTerminal)).utf8))
            }
            if watch { sleep(1) }
        } while watch
    }

    /// On a terminal, breaks long lines between words, and colours the important values.
    private static func text(_ status: StatusReport, isTerminal: Bool) -> String {
        let text = StatusText.render(status)
        guard isTerminal else { return text }
        let wrapped = StatusText.wrapped(text, to: Terminal.size.columns)
        return Output.wantsColour ? StatusText.coloured(wrapped, ShownState(status).colour) : wrapped
    }
}
