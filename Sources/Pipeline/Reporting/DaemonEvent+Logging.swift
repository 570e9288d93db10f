package import ControlProtocol
package import Logging

/// The only place where the daemon's events become log lines. A test checks that.
extension Logger {
    /// Logs an event. A handler that knows `JSONValue` writes numbers and booleans as such; other handlers get texts.
    package func tell(_ event: DaemonEvent) {
        let report = event.report
        guard let level = Level(rawValue: report.level.rawValue), level >= logLevel else { return }
        log(level: level, Message(stringLiteral: report.message), metadata: report.metadata)
    }
}

extension DaemonEvent.Report {
    /// The fields, and the event's name as `event`.
    package var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["event": .stringConvertible(name)]
        for field in fields { metadata[field.name] = .stringConvertible(field.value) }
        return metadata
    }
}
