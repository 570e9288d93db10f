internal import Logging

/// The handler of all loggers. They share one output and one level.
struct StandardErrorLog: LogHandler {
    private let output: LogOutput
    var metadata: Logger.Metadata = [:]

    init(_ output: LogOutput) { self.output = output }

    /// The level of the output. A reload or a command changes it for all loggers.
    var logLevel: Logger.Level {
        get { output.level }
        set { output.level = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        output.write(event.level, "\(event.message)", metadata.merging(event.metadata ?? [:]) { $1 })
    }
}
