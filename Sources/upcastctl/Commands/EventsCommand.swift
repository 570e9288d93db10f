import ArgumentParser
import ControlClient
import ControlProtocol
import Glibc

struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Show events as they occur, one per line, starting with the last 256.",
        discussion: """
            Runs until it is interrupted. After a lost connection or a restart of the daemon, it reconnects and \
            continues after the last event. On a terminal, warnings and errors are coloured. Set NO_COLOR to disable \
            colours.
            """,
        aliases: ["watch"])
    @OptionGroup var control: ControlOptions
    @Flag(help: "Print each event as one JSON object per line.")
    var json = false

    /// The daemon sends a comment every 15 s when there are no events.
    static let silenceSeconds: Int64 = 45

    func run() throws {
        let client = try control.client()
        // A failure to connect at the start is an error. Later the command reconnects.
        var connection: EventConnection? = try EventConnection(client, "/events")
        var lastID = ""
        var isLost = false
        while true {
            do {
                let open = try connection ?? EventConnection(client, "/events", after: lastID)
                connection = open
                if isLost { Output.note("reconnected") }
                isLost = false
                while true {
                    guard open.wait(seconds: Self.silenceSeconds) else {
                        throw ControlClientError.unreachable(
                            "the daemon has sent nothing for \(Self.silenceSeconds) s")
                    }
                    for event in try open.next() { show(event) }
                    lastID = open.lastID
                }
            } catch let error as ControlClientError {
                lastID = connection?.lastID ?? lastID
                connection = nil
                if !isLost { Output.note("\(error); retrying every second") }
                isLost = true
                sleep(1)
            }
        }
    }

    private func show(_ event: ServerEvent) {
        guard let data = try? JSONParser.parse(Array(event.data.utf8)) else {
            return Output.note("skipped an event that is not JSON")
        }
        if json {
            OutputOptions.print(data, pretty: false)
        } else {
            let event = EventRecord(json: data)
            let line = TopLine(EventText.line(event), TopEvent(event).colour)
            Output.line(line.rendered(.max, inColour: Output.isTerminal && Output.wantsColour))
        }
    }
}
