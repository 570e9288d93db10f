internal import Logging

/// The handler of the daemon's logger: standard error, and the events of `GET /events` and the webhooks.
///
/// It asks both for their levels at each line, because a command or a reload can change the level of standard error.
/// `MultiplexLogHandler` of swift-log keeps the level from its start.
struct DaemonLog: LogHandler {
    private var standardError: StandardErrorLog
    private var events: EventLog

    init(_ standardError: StandardErrorLog, _ events: EventLog) {
        (self.standardError, self.events) = (standardError, events)
    }

    var logLevel: Logger.Level {
        get { min(standardError.logLevel, events.logLevel) }
        set { standardError.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { standardError.metadata }
        set { (standardError.metadata, events.metadata) = (newValue, newValue) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        if standardError.logLevel <= event.level { standardError.log(event: event) }
        if events.logLevel <= event.level { events.log(event: event) }
    }
}
