package import ControlProtocol

/// The body of `GET /state/events`: server-sent events (WHATWG HTML, 9.2) of the capture state, and of nothing else,
/// since the captured app reads them. One watcher's, on the server's thread.
struct CaptureStateStream {
    /// Milliseconds between two looks whether a heartbeat is due; a change wakes the stream.
    static let period: Int64 = 250
    /// Milliseconds without anything else after which a comment shows that the daemon is there.
    static let heartbeat: Int64 = 1000

    private let news: @Sendable (UInt64?) -> CaptureStateNews?
    /// The last change that was told; nil before the first event.
    private var position: UInt64?
    private var count = 0
    private var nextHeartbeat: Int64 = 0

    /// - Parameter news: what came after a change, or for nil the state as it is. Nil where it is not to be told any
    ///   more: then nothing comes, and a watcher knows nothing.
    init(_ news: @escaping @Sendable (UInt64?) -> CaptureStateNews?) { self.news = news }

    /// What is to be written now. Events are numbered from 1 in each stream, so that a reader notices one that is
    /// missing; a comment says that there is none since the last.
    ///
    /// - Parameter elapsed: milliseconds since the stream began.
    mutating func next(at elapsed: Int64) -> [UInt8] {
        guard let news = news(position) else { return [] }
        position = news.number
        guard !news.reports.isEmpty else {
            guard elapsed >= nextHeartbeat else { return [] }
            nextHeartbeat = elapsed + Self.heartbeat
            return Array(": alive\n\n".utf8)
        }
        nextHeartbeat = elapsed + Self.heartbeat
        return news.reports.flatMap { report -> [UInt8] in
            count += 1
            return Array("id: \(count)\nevent: state\ndata: ".utf8) + report.json.serialized() + Array("\n\n".utf8)
        }
    }
}

extension ControlAnswer {
    /// The answer to `GET /state/events`.
    ///
    /// - Parameters:
    ///   - news: what came after a change, or for nil the state as it is; nil where it is not told.
    ///   - open: called when the stream begins, with what is to be called at each change; returns what ends that.
    package static func captureStates(
        _ news: @escaping @Sendable (UInt64?) -> CaptureStateNews?, open: @escaping ControlStream.Open
    ) -> ControlAnswer {
        .stream(
            // An app that hangs is still to be asked, and its end is the end of its connection.
            ControlStream(
                contentType: "text/event-stream", period: CaptureStateStream.period, outlastsSilence: true, open: open
            ) {
                var stream = CaptureStateStream(news)
                return { stream.next(at: $0) }
            })
    }
}
