internal import LinuxSystem
package import MediaCore

/// An open stream of server-sent events, such as `GET /events`. One thread.
package final class EventConnection {
    private let client: ControlClient
    private let connection: ControlConnection
    private var parser = HTTPAnswerParser()
    private var events: EventParser
    /// Events that came together with the head of the answer, for `next`.
    private var waiting: [ServerEvent] = []
    /// The body of an answer that is not a stream of events.
    private var refusal: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 16 * 1024)

    /// For `poll`: readable when `next` may return events.
    package var raw: CInt { connection.raw }
    /// The ID of the last event, from which a later connection can continue.
    package var lastID: String { events.lastID }
    /// The number of comments so far, which show that the server is alive.
    package var comments: Int { events.comments }
    /// Whether the server has accepted the request.
    package var isOpen: Bool { parser.head?.status == 200 }

    /// Connects and sends the request. `next` reads the head of the answer, and then events.
    ///
    /// - Parameters:
    ///   - target: the path, with its query.
    ///   - lastID: the ID of the last event that was seen; empty for none.
    package init(
        _ client: ControlClient, _ target: String, after lastID: String = "", deadline: MediaTime
    ) throws(ControlClientError) {
        let header = lastID.isEmpty ? "" : "Last-Event-ID: \(lastID)\r\n"
        self.client = client
        connection = try client.open("GET", target, headers: header, deadline: deadline)
        events = EventParser(lastID: lastID)
    }

    /// Connects, and waits until the server has accepted the request, all within the client's time limit.
    package convenience init(
        _ client: ControlClient, _ target: String, after lastID: String = ""
    ) throws(ControlClientError) {
        let deadline = client.deadline
        try self.init(client, target, after: lastID, deadline: deadline)
        while !isOpen {
            guard connection.waitToReceive(until: deadline) else { throw client.unanswered(parser.head != nil) }
            waiting += try next()
        }
    }

    /// The events that have come so far. Does not wait.
    ///
    /// - Throws: `refused` if the answer is an error of the daemon, `unreachable` when the connection has ended,
    ///   `unintelligible` for anything other than a stream of events.
    package func next() throws(ControlClientError) -> [ServerEvent] {
        var all = waiting
        waiting = []
        // Reads once only: a stream that never stops must not keep its reader from other work.
        guard let bytes = try connection.receive(into: &buffer) else { return all }
        guard !bytes.isEmpty else {
            // Events before the end are not lost. The next call reports the end.
            guard all.isEmpty else { return all }
            throw ended
        }
        let hadHead = parser.head != nil
        let body = try parser.feed(bytes)
        guard let head = parser.head else { return all }
        guard head.status == 200 else {
            refusal += body
            guard refusal.count <= ControlClient.maxAnswerBytes else { throw .unintelligible("it is too long") }
            guard !parser.isComplete else { throw refused(head) }
            return all
        }
        guard hadHead || head.mediaType == "text/event-stream" else {
            throw .unintelligible("it is no stream of events, but \(head.mediaType)")
        }
        all += try events.feed(body)
        if parser.isComplete, all.isEmpty { throw .unreachable("the daemon has ended the stream") }
        return all
    }

    /// Waits until there may be events; false if nothing came in that time.
    package func wait(seconds: Int64) -> Bool {
        wait(until: MonotonicClock().now() + .seconds(seconds))
    }

    /// Waits until there may be events, or until a time on the monotonic clock.
    package func wait(until deadline: MediaTime) -> Bool {
        !waiting.isEmpty || connection.waitToReceive(until: deadline)
    }

    private func refused(_ head: HTTPAnswerParser.Head) -> ControlClientError {
        client.refusal(.init(status: head.status, mediaType: head.mediaType, body: refusal))
    }

    private var ended: ControlClientError {
        guard let head = parser.head else {
            return .unreachable("the daemon at \(client.address) hung up without an answer")
        }
        return head.status == 200 ? .unreachable("the daemon has ended the connection") : refused(head)
    }
}
