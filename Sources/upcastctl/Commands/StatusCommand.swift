import ArgumentParser
import ControlClient
import ControlProtocol
import Glibc

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the status: state, counters, drops by cause, queue, memory.")

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
                Output.write(Array((clear + StatusText.render(StatusReport(json: answer))).utf8))
            }
            if watch { sleep(1) }
        } while watch
    }
}
