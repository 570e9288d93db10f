internal import Control
internal import ControlProtocol
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Pipeline
internal import Webhooks

/// Puts each logged `DaemonEvent` into the journal of `GET /events`, and offers it to the webhooks: level `info` and
/// above, whatever the log's level. Repeated events are limited and counted, as in the log.
struct EventLog: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    private let journal: EventJournal
    private let webhooks: WebhookCenter?
    private let limit = Monitor(RepeatLimit())
    private let order = Monitor(())
    private let clock: any TimeSource

    init(_ journal: EventJournal, webhooks: WebhookCenter? = nil, clock: any TimeSource = MonotonicClock()) {
        (self.journal, self.webhooks, self.clock) = (journal, webhooks, clock)
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var values = metadata.merging(event.metadata ?? [:]) { $1 }
        // Other log lines have no stable name.
        guard case .stringConvertible(let value)? = values.removeValue(forKey: "event"),
            let name = value as? DaemonEvent.Name
        else { return }
        let cause = RepeatLimit.Cause(of: name.rawValue, destination: values["destination"].map { "\($0)" })
        let now = clock.now()
        let (omitted, isAdmitted) = limit.withLock { limit in
            (limit.takeOmitted(at: now), limit.admits(cause, event.level, at: now))
        }
        for omitted in omitted { append(omitted.report) }
        guard isAdmitted else { return }
        let fields = values.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, LogLines.json($0.value)) }
        append(event.level, name, "\(event.message)", fields)
    }

    /// Reports the number of omitted events. Must be called about once a second.
    func tellOmitted() {
        for omitted in limit.withLock({ [now = clock.now()] in $0.takeOmitted(at: now) }) {
            append(omitted.report)
        }
    }

    private func append(_ report: DaemonEvent.Report) {
        append(Logger.Level(rawValue: report.level.rawValue) ?? .info, report.name, report.message, report.fields)
    }

    private func append(
        _ level: Logger.Level, _ name: DaemonEvent.Name, _ message: String, _ fields: [JSONValue.Member]
    ) {
        // Together: a webhook gets events in their order.
        order.withLock { _ in
            let event = EventRecord(
                time: WallClock.timestamp(), level: "\(level)", name: name.rawValue, message: message, fields: fields)
            let number = journal.append(event)
            webhooks?.offer(number: number, event)
        }
    }
}
