package import ControlProtocol

/// The body of `GET /state/events`: server-sent events (WHATWG HTML, 9.2) of the capture state, and of nothing else,
/// since the captured app reads them. One watcher's, on the server's thread.
struct CaptureStateStream {
    /// Milliseconds between two looks whether a heartbeat is due; a change wakes the stream.
    static let period: Int64 = 250
    /// The same while the first event is held back: most disks take some milliseconds.
    static let startPeriod: Int64 = 2
    /// Milliseconds without anything else after which a comment shows that the daemon is there.
    static let heartbeat: Int64 = 1000

    private let news: @Sendable (UInt64?) -> CaptureStateNews?
    /// Given the milliseconds since the stream began.
    typealias Persisted = @Sendable (Int64) -> JSONValue?
    private let persisted: Persisted?
    /// The state as the stream began, where it has not been told yet.
    private var first: [CaptureStateReport] = []
    /// The last change that was told, or that `first` stands for; nil before it is known.
    private var position: UInt64?
    private var count = 0
    private var nextHeartbeat: Int64 = 0

    /// - Parameters:
    ///   - news: what came after a change, or for nil the state as it is. Nil where it is not to be told any more: then
    ///     nothing comes, and a watcher knows nothing.
    ///   - persisted: see `ControlAnswer.captureStates`.
    init(_ news: @escaping @Sendable (UInt64?) -> CaptureStateNews?, persisted: Persisted? = nil) {
        (self.news, self.persisted) = (news, persisted)
    }

    /// What is to be written now. Events are numbered from 1 in each stream, so that a reader notices one that is
    /// missing; a comment says that there is none since the last.
    ///
    /// - Parameter elapsed: milliseconds since the stream began.
    mutating func next(at elapsed: Int64) -> [UInt8] {
        if position == nil, let news = news(nil) { (first, position) = (news.reports, news.number) }
        guard let position, let news = news(position) else { return [] }
        var text: [UInt8] = []
        if !first.isEmpty {
            var member: [JSONValue.Member] = []
            if let persisted {
                guard let value = persisted(elapsed) else { return [] }
                member = [.init("persisted", value)]
            }
            for report in first { text += event(report, member) }
            first = []
        }
        // What came while the first was held back comes behind it.
        self.position = news.number
        for report in news.reports { text += event(report) }
        guard text.isEmpty else {
            nextHeartbeat = elapsed + Self.heartbeat
            return text
        }
        guard elapsed >= nextHeartbeat else { return [] }
        nextHeartbeat = elapsed + Self.heartbeat
        return Array(": alive\n\n".utf8)
    }

    private mutating func event(_ report: CaptureStateReport, _ more: [JSONValue.Member] = []) -> [UInt8] {
        count += 1
        var json = report.json
        if case .object(let members) = json { json = .object(members + more) }
        return Array("id: \(count)\nevent: state\ndata: ".utf8) + json.serialized() + Array("\n\n".utf8)
    }
}

extension ControlAnswer {
    /// The answer to `GET /state/events`.
    ///
    /// - Parameters:
    ///   - news: what came after a change, or for nil the state as it is; nil where it is not told.
    ///   - persisted: the member `persisted` of the first event, which is held back until there is one; given the
    ///     milliseconds since the stream began. Without it the first event comes at once, and has no such member.
    ///   - open: called when the stream begins, with what is to be called at each change; returns what ends that.
    package static func captureStates(
        _ news: @escaping @Sendable (UInt64?) -> CaptureStateNews?,
        persisted: (@Sendable (Int64) -> JSONValue?)? = nil, open: @escaping ControlStream.Open
    ) -> ControlAnswer {
        .stream(
            // An app that hangs is still to be asked, and its end is the end of its connection.
            ControlStream(
                contentType: "text/event-stream", period: CaptureStateStream.period,
                startPeriod: persisted == nil ? nil : CaptureStateStream.startPeriod, outlastsSilence: true, open: open
            ) {
                var stream = CaptureStateStream(news, persisted: persisted)
                return { stream.next(at: $0) }
            })
    }
}
