internal import LinuxSystem
package import MediaCore

/// An open stream of server-sent events, such as `GET /events`. One thread.
package final class EventConnection {
    private let client: ControlClient
    private let connection: ControlConnection
    private var parser = HTTPAnswerParser()
    private var events: EventParser
    /// What came with the agreement, for `next`.
    private var waiting: [ServerEvent] = []
    /// The body of an answer that is none of events.
    private var refusal: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 16 * 1024)

    /// For `poll`: readable when `next` may have something.
    package var raw: CInt { connection.raw }
    /// Where to go on after a break.
    package var lastID: String { events.lastID }
    /// Comments so far, by which a server shows that it is there.
    package var comments: Int { events.comments }
    /// The server has agreed to send events.
    package var isOpen: Bool { parser.head?.status == 200 }

    /// Connects and sends the request. `next` brings the answer, and then events.
    ///
    /// - Parameters:
    ///   - target: with its query.
    ///   - lastID: of the last event that was seen; empty for none.
    package init(
        _ client: ControlClient, _ target: String, after lastID: String = "", deadline: MediaTime
    ) throws(ControlClientError) {
        let header = lastID.isEmpty ? "" : "Last-Event-ID: \(lastID)\r\n"
        self.client = client
        connection = try client.open("GET", target, headers: header, deadline: deadline)
        events = EventParser(lastID: lastID)
    }

    /// The same, and waits until the server has agreed; all of it within the client's time limit.
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

    /// What has come by now, without waiting.
    ///
    /// - Throws: `refused` where the answer is the daemon's error, `unreachable` when the connection has ended,
    ///   `unintelligible` for anything else than a stream of events.
    package func next() throws(ControlClientError) -> [ServerEvent] {
        var all = waiting
        waiting = []
        // As much as one read gives: a stream that never stops must not keep its reader from everything else.
        guard let bytes = try connection.receive(into: &buffer) else { return all }
        guard !bytes.isEmpty else {
            // What came before the end is not lost: the next call says that it has ended.
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

    /// Waits until there may be something; false where nothing came for so long.
    package func wait(seconds: Int64) -> Bool {
        wait(until: MonotonicClock().now() + .seconds(seconds))
    }

    /// The same until a point on the monotonic clock.
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
