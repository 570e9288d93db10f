internal import Control
internal import LinuxSystem
internal import Logging

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
            time: WallClock.timestamp(), level: "\(event.level)", message: "\(event.message)",
            fields: values.map { ($0.key, "\($0.value)") })
    }
}
