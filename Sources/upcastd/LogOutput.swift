internal import Configuration
internal import ControlProtocol
internal import Glibc
internal import LinuxSystem
internal import Logging
internal import MediaCore
internal import Pipeline
internal import Synchronization

/// Writes all log lines to standard error, with one `write` per line so that threads do not mix; or sends them to the
/// journal, with their fields. Any thread.
final class LogOutput: Sendable {
    private let format: LogConfiguration.Format
    /// Standard error is the systemd journal, which adds the time and reads the priority from the start of the line.
    private let isJournal: Bool
    private let threshold: Atomic<Int>
    private let limit = Monitor(RepeatLimit())
    private let clock: any TimeSource
    private let put: @Sendable (String) -> Void
    private let journal: JournalSocket?

    /// - Parameter journal: takes the lines that it can; `put` takes the others.
    init(
        level: Logger.Level, format: LogConfiguration.Format, isJournal: Bool, clock: any TimeSource = MonotonicClock(),
        journal: JournalSocket? = nil, put: @escaping @Sendable (String) -> Void = LogOutput.writeUnlessBlocked
    ) {
        self.format = format
        self.journal = journal
        self.isJournal = isJournal
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
        let cause = RepeatLimit.Cause(of: message, destination: metadata["destination"].map { "\($0)" })
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
        put(line(level, message, metadata))
    }

    // MARK: Lines

    /// The text that people read, as in a line, and the fields for `journalctl FIELD=VALUE`.
    private func entry(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> JournalEntry {
        let values = metadata.sorted { $0.key < $1.key }
        var entry = JournalEntry()
        entry.add("MESSAGE", text(message, values))
        entry.add("PRIORITY", String(Self.priority(level).dropFirst().dropLast()))
        entry.add("SYSLOG_IDENTIFIER", "upcastd")
        for (key, value) in values {
            if case .array(let items) = Self.json(value) {
                for item in items { entry.add(key, "\(item)") }
            } else {
                entry.add(key, "\(value)")
            }
        }
        return entry
    }

    private func text(_ message: String, _ values: [(key: String, value: Logger.MetadataValue)]) -> String {
        // The message may contain text from a server.
        var text = message.withHiddenCharactersEscaped
        // The message already says what the event's name says.
        for (key, value) in values where key != "event" { text += " \(key)=\(Self.quotedIfNeeded("\(value)"))" }
        return text
    }

    private func line(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> String {
        let values = metadata.sorted { $0.key < $1.key }
        var line = isJournal ? Self.priority(level) : ""
        switch format {
        case .auto, .text:
            line += (isJournal ? "" : "\(WallClock.timestamp()) \(level) ") + text(message, values)
        case .json:
            line += isJournal ? "{" : "{\"time\":\"\(WallClock.timestamp())\","
            line += "\"level\":\"\(level)\",\"message\":\(Self.json(message))"
            for (key, value) in values { line += ",\(Self.json(key)):\(Self.text(Self.json(value)))" }
            line += "}"
        }
        return line + "\n"
    }

    /// The priorities of syslog (sd-daemon(3)).
    static func priority(_ level: Logger.Level) -> String {
        switch level {
        case .trace, .debug: "<7>"
        case .info: "<6>"
        case .notice: "<5>"
        case .warning: "<4>"
        case .error: "<3>"
        case .critical: "<2>"
        }
    }

    private static func quotedIfNeeded(_ value: String) -> String {
        let isPlain = value.unicodeScalars.allSatisfy { $0 != " " && $0 != "\"" && !$0.isControlOrFormat }
        return isPlain && !value.isEmpty ? value : json(value)
    }

    /// The field's JSON value: numbers and booleans keep their type; everything else becomes a string.
    static func json(_ value: Logger.MetadataValue) -> JSONValue {
        if case .stringConvertible(let value) = value, let typed = value as? JSONValue { return typed }
        return .string("\(value)")
    }

    private static func json(_ value: String) -> String { text(.string(value)) }

    /// Serializes without control and format characters, because values may come from a client.
    private static func text(_ value: JSONValue) -> String { String(decoding: value.serialized(), as: UTF8.self) }

    // MARK: Standard error

    /// The number of lines lost because the reader of standard error is blocked.
    private static let lost = Atomic<Int>(0)

    /// Writes a line if standard error accepts it; otherwise the line is lost, because logging must not block a data
    /// thread. The next line reports the number of lost lines.
    ///
    /// `poll` reports that a pipe accepts PIPE_BUF bytes (4096), so a line is cut to that, and one thread at a time
    /// writes. For files, `poll` always reports ready; for terminals, it does so for one byte. `StandardErrorFile`
    /// handles both.
    static func writeUnlessBlocked(_ line: String) { turn.withLock { _ in writeWhereThereIsRoom(line) } }

    private static let turn = Monitor(())

    private static func writeWhereThereIsRoom(_ line: String) {
        var descriptor = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&descriptor, 1, 0) == 1, descriptor.revents & Int16(POLLOUT) != 0 else {
            lost.add(1, ordering: .relaxed)
            return
        }
        let missing = lost.exchange(0, ordering: .relaxed)
        let text = missing == 0 ? line : "(\(missing) lines lost because standard error was blocked)\n" + line
        write(text.utf8.count <= 4096 ? text : String(decoding: text.utf8.prefix(4092), as: UTF8.self) + "...\n")
    }

    static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in _ = unsafe Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
}
