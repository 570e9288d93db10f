package import ControlProtocol

/// The body of `GET /state/events`: server-sent events (WHATWG HTML, 9.2) of the capture state only, because captured
/// apps read them. One stream per watcher, on the server's thread.
struct CaptureStateStream {
    /// Milliseconds between two checks for a heartbeat. A change wakes the stream.
    static let period: Int64 = 250
    /// Milliseconds between two checks while the first event is held back. Most disks need some milliseconds.
    static let startPeriod: Int64 = 2
    /// Milliseconds without an event, after which a comment shows that the daemon is alive.
    static let heartbeat: Int64 = 1000

    private let news: @Sendable (UInt64?) -> CaptureStateNews?
    /// Gets the milliseconds since the stream began.
    typealias Persisted = @Sendable (Int64) -> JSONValue?
    private let persisted: Persisted?
    /// The state when the stream began, until it has been sent.
    private var first: [CaptureStateReport] = []
    /// The number of the last sent change, or of `first`; nil before it is known.
    private var position: UInt64?
    private var count = 0
    private var nextHeartbeat: Int64 = 0

    /// - Parameters:
    ///   - news: returns the changes after the given one or, for nil, the current state. Returns nil once the state is
    ///     not reported any more. In that case the stream sends nothing, and the state is unknown to the watcher.
    ///   - persisted: see `ControlAnswer.captureStates`.
    init(_ news: @escaping @Sendable (UInt64?) -> CaptureStateNews?, persisted: Persisted? = nil) {
        (self.news, self.persisted) = (news, persisted)
    }

    /// Returns the bytes to write now. Events are numbered from 1 in each stream, so that a reader notices a missing
    /// event. A comment says that there is no event since the last one.
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
        // Changes that came while the first event was held back follow it.
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
    ///   - news: returns the changes after the given one or, for nil, the current state; nil if the state is not
    ///     reported.
    ///   - persisted: returns the member `persisted` of the first event, which is held back until there is a value.
    ///     Gets the milliseconds since the stream began. If nil, the first event is sent at once, without the member.
    ///   - open: called when the stream begins. Its argument must be called at each change. Its result ends the watch.
    package static func captureStates(
        _ news: @escaping @Sendable (UInt64?) -> CaptureStateNews?,
        persisted: (@Sendable (Int64) -> JSONValue?)? = nil, open: @escaping ControlStream.Open
    ) -> ControlAnswer {
        .stream(
            // An app that hangs must still be consulted. It counts as gone only when its connection ends.
            ControlStream(
                contentType: "text/event-stream", period: CaptureStateStream.period,
                startPeriod: persisted == nil ? nil : CaptureStateStream.startPeriod, outlastsSilence: true, open: open
            ) {
                var stream = CaptureStateStream(news, persisted: persisted)
                return { stream.next(at: $0) }
            })
    }
}
