package import ControlProtocol

/// The body of `GET /state/events`: server-sent events (WHATWG HTML, 9.2) of the capture state, and of nothing else,
/// since the captured app reads them. One watcher's, on the server's thread.
struct CaptureStateStream {
    /// Milliseconds between two looks at the state: so much later than the change its event may come.
    static let period: Int64 = 100
    /// Milliseconds without anything else after which a comment shows that the daemon is there.
    static let heartbeat: Int64 = 1000

    /// Nil where it is not to be told any more: then nothing comes, and a watcher knows nothing.
    private let state: @Sendable () -> CaptureStateReport?
    private var last: CaptureStateReport?
    private var count = 0
    private var nextHeartbeat: Int64 = 0

    init(_ state: @escaping @Sendable () -> CaptureStateReport?) { self.state = state }

    /// What is to be written now. Events are numbered from 1 in each stream, so that a reader notices one that is
    /// missing; a comment says that there is none since the last.
    ///
    /// - Parameter elapsed: milliseconds since the stream began.
    mutating func next(at elapsed: Int64) -> [UInt8] {
        guard let report = state() else { return [] }
        var comparable = report
        comparable.milliseconds = 0
        if comparable != last {
            last = comparable
            count += 1
            nextHeartbeat = elapsed + Self.heartbeat
            return Array("id: \(count)\nevent: state\ndata: ".utf8) + report.json.serialized() + Array("\n\n".utf8)
        }
        guard elapsed >= nextHeartbeat else { return [] }
        nextHeartbeat = elapsed + Self.heartbeat
        return Array(": alive\n\n".utf8)
    }
}

extension ControlAnswer {
    /// The answer to `GET /state/events`.
    package static func captureStates(_ state: @escaping @Sendable () -> CaptureStateReport?) -> ControlAnswer {
        .stream(
            ControlStream(contentType: "text/event-stream", period: CaptureStateStream.period) {
                var stream = CaptureStateStream(state)
                return { stream.next(at: $0) }
            })
    }
}
