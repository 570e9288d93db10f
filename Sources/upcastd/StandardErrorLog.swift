internal import Configuration
internal import Glibc
internal import Logging
internal import Synchronization

/// Log lines on standard error, one event a line, written with one `write` so that threads do not mix.
struct StandardErrorLog: LogHandler {
    private let level: LogLevelSwitch
    var metadata: Logger.Metadata = [:]
    let format: LogConfiguration.Format

    init(level: LogLevelSwitch, format: LogConfiguration.Format) {
        self.level = level
        self.format = format
    }

    var logLevel: Logger.Level {
        get { level.current }
        set { level.set(newValue) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        var line: String
        switch format {
        case .text:
            line = "\(Self.timestamp()) \(event.level) \(event.message)"
            for (key, value) in values { line += " \(key)=\(Self.quotedIfNeeded("\(value)"))" }
        case .json:
            line = "{\"time\":\"\(Self.timestamp())\",\"level\":\"\(event.level)\""
            line += ",\"message\":\(Self.json("\(event.message)"))"
            for (key, value) in values { line += ",\(Self.json(key)):\(Self.json("\(value)"))" }
            line += "}"
        }
        line += "\n"
        Self.writeUnlessBlocked(line)
    }

    /// Lines that could not be written because whoever reads standard error did not.
    private static let lost = Atomic<Int>(0)

    /// Logging must not stop a data thread: a line for which there is no room is lost, and counted in front of the next
    /// one.
    ///
    /// `poll` says that a pipe has room for PIPE_BUF bytes (4096), so a line is cut to that.
    private static func writeUnlessBlocked(_ line: String) {
        var descriptor = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&descriptor, 1, 0) == 1, descriptor.revents & Int16(POLLOUT) != 0 else {
            lost.add(1, ordering: .relaxed)
            return
        }
        let missing = lost.exchange(0, ordering: .relaxed)
        let text = missing == 0 ? line : "(\(missing) lines lost, nobody read them)\n" + line
        write(text.utf8.count <= 4096 ? text : String(decoding: text.utf8.prefix(4092), as: UTF8.self) + "...\n")
    }

    static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in _ = unsafe Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }

    /// UTC, RFC 3339 with milliseconds.
    static func timestamp() -> String {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        var parts = unsafe tm()
        _ = unsafe gmtime_r(&now.tv_sec, &parts)
        func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let milliseconds = String(now.tv_nsec / 1_000_000 + 1000).dropFirst()
        let date = unsafe "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        let time = unsafe "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)).\(milliseconds)"
        return "\(date)T\(time)Z"
    }

    private static func quotedIfNeeded(_ value: String) -> String {
        value.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x7f } && !value.isEmpty ? value : json(value)
    }

    /// A JSON string. Values may come from a client: no control character leaves here.
    private static func json(_ value: String) -> String {
        var result = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
