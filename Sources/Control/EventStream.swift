package import ControlProtocol

/// The body of `GET /events`: server-sent events (WHATWG HTML, 9.2). One stream per watcher, on the server's thread.
///
/// A slow watcher gets missed events later, as long as the journal still has them.
struct EventStream {
    private let journal: EventJournal
    private let status: @Sendable () -> StatusReport
    private var lastID: UInt64
    private let statusInterval: Int64?
    private var nextStatus: Int64 = 0
    private var nextPing = Self.pingMilliseconds
    /// Keeps the connection alive at proxies that close silent ones.
    private static let pingMilliseconds: Int64 = 15_000

    /// - Parameters:
    /// - lastID: the last event that the watcher has seen.
    ///   - statusInterval: milliseconds between two `status` events; nil for none.
    init(
        _ journal: EventJournal, after lastID: UInt64, statusInterval: Int64?,
        status: @escaping @Sendable () -> StatusReport
    ) {
        self.journal = journal
        self.lastID = lastID
        self.statusInterval = statusInterval
        self.status = status
    }

    /// Returns the bytes to write now.
    ///
    /// - Parameter elapsed: milliseconds since the stream began.
    mutating func next(at elapsed: Int64) -> [UInt8] {
        var text: [UInt8] = []
        for event in journal.events(after: lastID) {
            text += Array("id: \(event.id)\nevent: \(event.name)\ndata: ".utf8) + event.json + Array("\n\n".utf8)
            lastID = event.id
        }
        if let statusInterval, elapsed >= nextStatus {
            nextStatus = elapsed + statusInterval
            text += Array("event: status\ndata: ".utf8) + status().json.serialized() + Array("\n\n".utf8)
        }
        if !text.isEmpty {
            nextPing = elapsed + Self.pingMilliseconds
        } else if elapsed >= nextPing {
            nextPing = elapsed + Self.pingMilliseconds
            text = Array(": ping\n\n".utf8)
        }
        return text
    }
}

extension ControlAnswer {
    /// Milliseconds between two `status` events.
    private static let statusIntervals: ClosedRange<Int64> = 250...60_000

    /// The answer to `GET /events`. Events start after the header `Last-Event-ID`. If the query has `status`, a
    /// `status` event follows at that period in milliseconds.
    package static func events(
        _ journal: EventJournal, _ request: ControlRequest, status: @escaping @Sendable () -> StatusReport
    ) -> ControlAnswer {
        let lastID = request.header("Last-Event-ID").flatMap { UInt64($0) } ?? 0
        let interval = request.parameter("status").flatMap { Int64($0) }
        // A misspelt query must not count as "no status".
        guard request.query == nil || interval.map(statusIntervals.contains) == true else {
            let (least, most) = (statusIntervals.lowerBound, statusIntervals.upperBound)
            return .response(
                .failure(400, "bad_value", "the only query is status=MILLISECONDS, \(least) to \(most)"))
        }
        return .stream(
            ControlStream(contentType: "text/event-stream") {
                var stream = EventStream(journal, after: lastID, statusInterval: interval, status: status)
                return { stream.next(at: $0) }
            })
    }
}
