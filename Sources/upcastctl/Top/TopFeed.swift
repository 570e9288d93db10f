import ControlClient
import ControlProtocol
import LinuxSystem
import MediaCore

/// What keeps `top`'s screen up to date: history once, then events with a status a second; after a break, again.
///
/// One thread. Waits for at most the client's time limit, and only to connect.
final class TopFeed {
    private let client: ControlClient
    private let clock = MonotonicClock()
    private var connection: EventConnection?
    private var lastID = ""
    private var lastNews: MediaTime
    private static let eventCount = 100
    /// A status comes each second; a daemon without one for so long is in trouble.
    private static let silence = MediaTime.seconds(4)

    private(set) var screen = TopScreen()

    init(_ client: ControlClient) {
        self.client = client
        screen.place = "\(client.address)"
        lastNews = clock.now()
    }

    /// To poll for; -1 while there is no connection.
    var raw: CInt { connection?.raw ?? -1 }

    /// Waits until there may be something to take; false where nothing came.
    func wait(until deadline: MediaTime) -> Bool { connection?.wait(until: deadline) ?? false }

    /// Connects; throws where that fails.
    func connect() throws(ControlClientError) {
        screen.samples = TopSamples(history: try client.get("/history"))
        connection = try EventConnection(client, "/events?status=1000", after: lastID)
        lastNews = clock.now()
        screen.trouble = nil
    }

    /// Takes what has come, or connects again where the connection is gone. Called once a second, and when there is
    /// something to read.
    func update(isTick: Bool) {
        do throws(ControlClientError) {
            guard let connection else {
                if isTick { try connect() }
                return
            }
            for event in try connection.next() { try take(event) }
            lastID = connection.lastID
            guard clock.now() - lastNews < Self.silence else {
                throw .unreachable("the daemon has said nothing for \((clock.now() - lastNews).milliseconds / 1000) s")
            }
        } catch {
            lastID = connection?.lastID ?? lastID
            connection = nil
            screen.trouble = "\(error); trying again, q quits"
        }
    }

    private func take(_ event: ServerEvent) throws(ControlClientError) {
        lastNews = clock.now()
        guard let data = try? JSONParser.parse(Array(event.data.utf8)) else {
            throw .unintelligible("an event is no JSON")
        }
        guard event.name != "status" else {
            let status = StatusReport(json: data)
            screen.status = status
            screen.samples.note(status)
            return
        }
        screen.events.append(EventText.short(data))
        if screen.events.count > Self.eventCount { screen.events.removeFirst() }
    }
}
