import ArgumentParser
import ControlClient
import ControlProtocol
import Glibc

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows what the daemon says, as it says it: an event a line, the last 256 first.",
        discussion: """
            Goes on until it is interrupted. Where the connection breaks, or the daemon is started anew, it connects \
            again and goes on after the last event that it has shown.
            """)
    @OptionGroup var control: ControlOptions
    @Flag(help: "Print each event's JSON, one object a line.")
    var json = false

    /// A daemon that has nothing to say sends a comment every 15 s.
    static let silenceSeconds: Int64 = 45

    func run() throws {
        let client = try control.client()
        // Whoever cannot be reached at first is a mistake of the command's; later it is something to wait for.
        var connection: EventConnection? = try EventConnection(client, "/events")
        var lastID = ""
        var isLost = false
        while true {
            do {
                let open = try connection ?? EventConnection(client, "/events", after: lastID)
                connection = open
                if isLost { note("connected again") }
                isLost = false
                while true {
                    guard open.wait(seconds: Self.silenceSeconds) else {
                        throw ControlClientError.unreachable(
                            "the daemon has said nothing for \(Self.silenceSeconds) s")
                    }
                    for event in try open.next() { show(event) }
                    lastID = open.lastID
                }
            } catch let error as ControlClientError {
                lastID = connection?.lastID ?? lastID
                connection = nil
                if !isLost { note("\(error); trying again every second") }
                isLost = true
                sleep(1)
            }
        }
    }

    private func show(_ event: ServerEvent) {
        guard let data = try? JSONParser.parse(Array(event.data.utf8)) else {
            return note("an event that is no JSON was left out")
        }
        if json {
            OutputOptions.print(data, pretty: false)
        } else {
            Output.line(EventText.line(data))
        }
    }

    private func note(_ text: String) {
        try? Output.write(Array("upcastctl: \(text)\n".utf8), to: STDERR_FILENO)
    }
}
