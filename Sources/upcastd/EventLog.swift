internal import Control
internal import LinuxSystem
internal import Logging
internal import MediaCore

/// Puts what is logged into the journal that `GET /events` shows: `info` and above, whatever the log's level. Of what
/// comes again and again some events are kept and the rest are counted, as in the log.
struct EventLog: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    private let journal: EventJournal
    private let limit = Monitor(RepeatLimit())
    private let clock: any TimeSource

    init(_ journal: EventJournal, clock: any TimeSource = MonotonicClock()) {
        (self.journal, self.clock) = (journal, clock)
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = metadata.merging(event.metadata ?? [:]) { $1 }
        let cause = RepeatLimit.Cause(message: "\(event.message)", destination: values["destination"].map { "\($0)" })
        let now = clock.now()
        let (omitted, isAdmitted) = limit.withLock { limit in
            (limit.takeOmitted(at: now), limit.admits(cause, event.level, at: now))
        }
        for omitted in omitted { append(omitted.level, RepeatLimit.Omitted.message, omitted.metadata) }
        if isAdmitted { append(event.level, "\(event.message)", values) }
    }

    /// Once a second or so: tells how many events were left out, where no other event does.
    func tellOmitted() {
        for omitted in limit.withLock({ [now = clock.now()] in $0.takeOmitted(at: now) }) {
            append(omitted.level, RepeatLimit.Omitted.message, omitted.metadata)
        }
    }

    private func append(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) {
        journal.append(
            time: WallClock.timestamp(), level: "\(level)", message: message,
            fields: metadata.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") })
    }
}
