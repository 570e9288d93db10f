import ControlClient
import ControlProtocol
import Glibc
import LinuxSystem
import MediaCore

/// Updates the screen of `top`: first the history, then events and one status per second. It reconnects after a lost
/// connection.
///
/// One thread. Only connecting waits, for at most the client's timeout.
final class TopFeed {
    private let client: ControlClient
    private let clock = MonotonicClock()
    private var connection: EventConnection?
    private var lastID = ""
    private var lastNews: MediaTime
    private var lastStatus: MediaTime
    private static let eventCount = 100
    /// A status comes each second. Without one for this long, the connection is considered lost.
    private static let silence = MediaTime.seconds(4)

    private static let noticeTime = MediaTime.seconds(6)
    private var noticeEnd = MediaTime.zero

    private(set) var screen = TopScreen()

    init(_ client: ControlClient) {
        self.client = client
        screen.place = "\(client.address)"
        lastNews = clock.now()
        lastStatus = lastNews
    }

    /// The descriptor for `poll`; -1 without a connection.
    var raw: CInt { connection?.raw ?? -1 }

    /// Waits for input. Returns false if nothing came before the deadline.
    func wait(until deadline: MediaTime) -> Bool { connection?.wait(until: deadline) ?? false }

    func connect() throws(ControlClientError) {
        screen.samples = TopSamples(history: try client.get("/history"))
        connection = try EventConnection(client, "/events?status=1000", after: lastID)
        lastNews = clock.now()
        screen.trouble = nil
    }

    /// Handles available events, or reconnects. Must be called once a second and when there is something to read.
    func update(isTick: Bool) {
        do throws(ControlClientError) {
            guard let connection else {
                if isTick { try connect() }
                return
            }
            for event in try connection.next() { try take(event) }
            lastID = connection.lastID
            guard clock.now() - lastNews < Self.silence else {
                throw .unreachable("the daemon has sent nothing for \((clock.now() - lastNews).milliseconds / 1000) s")
            }
        } catch {
            lastID = connection?.lastID ?? lastID
            connection = nil
            screen.trouble = "\(error)"
        }
    }

    /// Must be called before the screen is drawn.
    func noteTime() {
        screen.silentMilliseconds = Int((clock.now() - lastStatus).milliseconds)
        if clock.now() >= noticeEnd { screen.notice = nil }
    }

    /// Handles pressed keys. Returns false if the user quits.
    func press(_ bytes: [UInt8]) -> Bool {
        let actions = screen.keys.press(bytes, screen.status)
        for action in actions where action != .quit {
            screen.notice = TopControl(client: client).perform(action)
            noticeEnd = clock.now() + Self.noticeTime
        }
        return !actions.contains(.quit)
    }

    private func take(_ event: ServerEvent) throws(ControlClientError) {
        lastNews = clock.now()
        guard let data = try? JSONParser.parse(Array(event.data.utf8)) else {
            throw .unintelligible("an event is not JSON")
        }
        guard event.name != "status" else {
            let status = StatusReport(json: data)
            screen.status = status
            screen.lastStatusTime = Self.timeOfDay()
            lastStatus = clock.now()
            screen.samples.note(status)
            return
        }
        screen.events.append(TopEvent(EventRecord(json: data)))
        if screen.events.count > Self.eventCount { screen.events.removeFirst() }
    }

    /// The time of day in UTC, as in events.
    private static func timeOfDay() -> String {
        let second = time(nil) % 86_400
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) UTC"
    }
}
