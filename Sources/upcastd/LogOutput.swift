internal import ControlProtocol
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Pipeline
internal import Synchronization

/// Writes all log lines to standard error, or sends them to the journal with their fields. Any thread.
final class LogOutput: Sendable {
    private let lines: LogLines
    private let threshold: Atomic<Int>
    private let limit = Monitor(RepeatLimit())
    private let clock: any TimeSource
    private let put: @Sendable (String) -> Void
    private let journal: JournalSocket?

    /// - Parameter journal: takes the lines that it can; `put` takes the others.
    init(
        level: Logger.Level, lines: LogLines, clock: any TimeSource = MonotonicClock(), journal: JournalSocket? = nil,
        put: @escaping @Sendable (String) -> Void
    ) {
        self.lines = lines
        self.journal = journal
        threshold = Atomic(Self.number(level))
        self.clock = clock
        self.put = put
    }

    /// The log level. It can be changed at any time.
    var level: Logger.Level {
        get { Logger.Level.allCases[threshold.load(ordering: .relaxed)] }
        set { threshold.store(Self.number(newValue), ordering: .relaxed) }
    }

    private static func number(_ level: Logger.Level) -> Int { Logger.Level.allCases.firstIndex(of: level) ?? 0 }

    func write(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) {
        // Lines that are not events have only a message.
        let cause = RepeatLimit.Cause(
            of: metadata["event"].map { "\($0)" } ?? message, destination: metadata["destination"].map { "\($0)" })
        let now = clock.now()
        let (omitted, isAdmitted) = limit.withLock { limit in
            (limit.takeOmitted(at: now), limit.admits(cause, level, at: now))
        }
        for omitted in omitted { tell(omitted) }
        if isAdmitted { emit(level, message, metadata) }
    }

    /// Reports the number of omitted lines. Must be called about once a second.
    func tellOmitted() {
        for omitted in limit.withLock({ [now = clock.now()] in $0.takeOmitted(at: now) }) { tell(omitted) }
    }

    private func tell(_ omitted: RepeatLimit.Omitted) {
        emit(omitted.level, omitted.report.message, omitted.report.metadata)
    }

    private func emit(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) {
        if let journal, journal.send(entry(level, message, metadata)) { return }
        put(lines.line(level, message, metadata))
    }

    /// The text that people read, as in a line, and the fields for `journalctl FIELD=VALUE`.
    private func entry(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> JournalEntry {
        let values = metadata.sorted { $0.key < $1.key }
        var entry = JournalEntry()
        entry.add("MESSAGE", lines.text(message, values))
        entry.add("PRIORITY", String(LogLines.priority(level).dropFirst().dropLast()))
        entry.add("SYSLOG_IDENTIFIER", "upcastd")
        for (key, value) in values {
            if case .array(let items) = LogLines.json(value) {
                for item in items { entry.add(key, "\(item)") }
            } else {
                entry.add(key, "\(value)")
            }
        }
        return entry
    }
}
