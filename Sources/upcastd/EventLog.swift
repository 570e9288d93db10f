internal import Control
internal import Logging
internal import Synchronization

/// Puts what is logged into the journal that `GET /events` shows: `info` and above, whatever the log's level.
struct EventLog: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    let journal: EventJournal

    init(_ journal: EventJournal) { self.journal = journal }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        journal.append(
            time: StandardErrorLog.timestamp(), level: "\(event.level)", message: "\(event.message)",
            fields: values.map { ($0.key, "\($0.value)") })
    }
}

/// The level of the log, which may change while the daemon runs.
final class LogLevelSwitch: Sendable {
    private let index: Atomic<Int>

    init(_ level: Logger.Level) { index = Atomic(Self.number(level)) }

    var current: Logger.Level { Logger.Level.allCases[index.load(ordering: .relaxed)] }
    func set(_ level: Logger.Level) { index.store(Self.number(level), ordering: .relaxed) }

    private static func number(_ level: Logger.Level) -> Int { Logger.Level.allCases.firstIndex(of: level) ?? 0 }
}
