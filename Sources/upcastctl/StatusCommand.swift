import ArgumentParser
import ControlProtocol
import Glibc

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows what the daemon is doing: state, counters, drops by cause, queue, memory.")

    @OptionGroup var control: ControlOptions

    @Flag(help: "Print the daemon's own JSON.")
    var json = false

    @Flag(help: "Show it anew every second, until interrupted.")
    var watch = false

    func run() throws {
        let client = control.client
        repeat {
            let answer = try client.get("/status")
            let text =
                json
                ? String(decoding: answer.serialized(pretty: !watch), as: UTF8.self) + "\n"
                : StatusText.render(StatusReport(json: answer))
            // Clears the screen only where there is one.
            print(watch && !json && isatty(STDOUT_FILENO) == 1 ? "\u{1B}[H\u{1B}[2J" + text : text, terminator: "")
            fflush(nil)
            if watch { sleep(1) }
        } while watch
    }
}
