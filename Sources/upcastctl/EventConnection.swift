import LinuxSystem
import MediaCore

/// An open `GET /events`. One thread.
final class EventConnection {
    private let connection: ControlConnection
    private var parser: HTTPAnswerParser
    private var events: EventParser
    private var waiting: [ServerEvent]
    private var buffer = [UInt8](repeating: 0, count: 16 * 1024)

    /// For `poll`: readable when `next` may have something.
    var raw: CInt { connection.raw }
    /// Where to go on after a break.
    var lastID: String { events.lastID }

    /// Connects, and waits until the daemon has agreed.
    ///
    /// - Parameters:
    ///   - lastID: of the last event that was seen; empty for none.
    ///   - statusMilliseconds: how often a `status` event is wanted; nil for never.
    init(_ client: ControlClient, after lastID: String, statusMilliseconds: Int?) throws(ControlClientError) {
        let deadline = client.deadline
        let query = statusMilliseconds.map { "?status=\($0)" } ?? ""
        let header = lastID.isEmpty ? "" : "Last-Event-ID: \(lastID)\r\n"
        let connection = try client.open("GET", "/events\(query)", headers: header, deadline: deadline)
        var parser = HTTPAnswerParser()
        var events = EventParser(lastID: lastID)
        var waiting: [ServerEvent] = []
        var refusal: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while parser.head == nil || (parser.head?.status != 200 && !parser.isComplete) {
            guard connection.waitToReceive(until: deadline) else { throw client.unanswered(parser.head != nil) }
            guard let bytes = try connection.receive(into: &buffer) else { continue }
            guard !bytes.isEmpty else {
                guard parser.head == nil else { break }
                throw .unreachable("the daemon at \(client.address) hung up without an answer")
            }
            let body = try parser.feed(bytes)
            if parser.head?.status == 200 {
                waiting += try events.feed(body)
            } else {
                refusal += body
                guard refusal.count <= ControlClient.maxAnswerBytes else { throw .unintelligible("it is too long") }
            }
        }
        let status = parser.head?.status ?? 0
        guard status == 200 else {
            throw ControlClient.refusal(.init(status: status, mediaType: "", body: refusal))
        }
        guard parser.head?.mediaType == "text/event-stream" else {
            throw .unintelligible("it is no stream of events, but \(parser.head?.mediaType ?? "")")
        }
        self.connection = connection
        (self.parser, self.events, self.waiting) = (parser, events, waiting)
    }

    /// What has come by now, without waiting; throws `unreachable` when the stream has ended.
    func next() throws(ControlClientError) -> [ServerEvent] {
        var all = waiting
        waiting = []
        // As much as one read gives: a stream that never stops must not keep its reader from everything else.
        if let bytes = try connection.receive(into: &buffer) {
            guard !bytes.isEmpty else {
                guard !all.isEmpty else { throw .unreachable("the daemon has ended the connection") }
                return all
            }
            all += try events.feed(try parser.feed(bytes))
            if parser.isComplete, all.isEmpty { throw .unreachable("the daemon has ended the stream") }
        }
        return all
    }

    /// Waits until there may be something; false where nothing came for so long.
    func wait(seconds: Int64) -> Bool {
        !waiting.isEmpty || connection.waitToReceive(until: MonotonicClock().now() + .seconds(seconds))
    }
}
