import ArgumentParser
import ControlClient
import ControlProtocol
import Glibc

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows what the daemon is doing: state, counters, drops by cause, queue, memory.")

    @OptionGroup var control: ControlOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Show it anew every second, until interrupted; upcastctl top does so with curves.")
    var watch = false

    func run() throws {
        let client = try control.client()
        repeat {
            let answer = try client.get("/status")
            if output.json {
                OutputOptions.print(answer, pretty: !watch)
            } else {
                // Clears the screen only where there is one.
                let clear = watch && Output.isTerminal ? "\u{1B}[H\u{1B}[2J" : ""
                Output.write(Array((clear + StatusText.render(StatusReport(json: answer))).utf8))
            }
            if watch { sleep(1) }
        } while watch
    }
}
