internal import Configuration
internal import ControlProtocol
internal import LinuxSystem
internal import Logging
internal import Wording

/// Makes the lines of the log. Any thread.
struct LogLines: Sendable {
    var format: LogConfiguration.Format = .auto
    /// Standard error is the systemd journal, which adds the time and reads the priority from the start of the line.
    var isJournal = false
    /// Longer lines, in bytes, are shortened; nil for no limit.
    var longest: Int?

    /// A line with its end.
    func line(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> String {
        let values = metadata.sorted { $0.key < $1.key }
        let isJSON = format == .json
        let prefix = (isJournal ? Self.priority(level) : "")
            + (isJournal || isJSON ? "" : "\(WallClock.timestamp()) \(level) ")
        let room = longest.map { $0 - prefix.utf8.count - 1 } ?? .max
        return prefix + (isJSON ? json(level, message, values, room) : text(message, values).shortened(to: room)) + "\n"
    }

    /// The text that people read, without level and time.
    func text(_ message: String, _ values: [(key: String, value: Logger.MetadataValue)]) -> String {
        // The message may contain text from a server.
        var text = message.withHiddenCharactersEscaped
        // The message already says what the event's name says.
        for (key, value) in values where key != "event" { text += " \(key)=\(Self.quotedIfNeeded("\(value)"))" }
        return text
    }

    /// Makes a line that reports how many lines are missing here.
    func lost(_ count: Int) -> String {
        line(
            .warning, "log lines were lost because standard error was blocked",
            ["count": .stringConvertible(JSONValue.integer(count))])
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

    /// The field's JSON value: numbers and booleans keep their type; everything else becomes a string.
    static func json(_ value: Logger.MetadataValue) -> JSONValue {
        if case .stringConvertible(let value) = value, let typed = value as? JSONValue { return typed }
        return .string("\(value)")
    }

    /// A line that is too long stays valid JSON: its texts and lists are shortened, all to the same share of the room.
    /// If that is not enough, only the time, the level, the event and a short message are left.
    private func json(
        _ level: Logger.Level, _ message: String, _ values: [(key: String, value: Logger.MetadataValue)], _ room: Int
    ) -> String {
        var members = isJournal ? [] : [JSONValue.Member("time", .string(WallClock.timestamp()))]
        members += [.init("level", .string("\(level)")), .init("message", .string(message))]
        members += values.map { .init($0.key, Self.json($0.value)) }
        // Without control and format characters, because values may come from a client.
        var bytes = JSONValue.object(members).serialized()
        var share = room
        while bytes.count > room, share > 16 {
            share /= 2
            bytes = JSONValue.object(members.map { $0.shortened(to: share) }).serialized()
        }
        if bytes.count > room {
            let whole = members.filter(\.isWhole) + [JSONValue.Member("message", .string(message.shortened(to: share)))]
            bytes = JSONValue.object(whole).serialized()
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func quotedIfNeeded(_ value: String) -> String {
        let isPlain = value.unicodeScalars.allSatisfy { $0 != " " && $0 != "\"" && !$0.isControlOrFormat }
        return isPlain && !value.isEmpty ? value : String(decoding: JSONValue.string(value).serialized(), as: UTF8.self)
    }
}

extension String {
    /// At most `count` bytes of UTF-8, the last three of them "..." if something is missing.
    fileprivate func shortened(to count: Int) -> String {
        guard utf8.count > count else { return self }
        var left = count - 3
        let kept = prefix { character in
            left -= character.utf8.count
            return left >= 0
        }
        return kept + "..."
    }
}

extension JSONValue {
    /// With texts of at most `count` bytes, and lists of at most an eighth as many items, the last of them "..." if
    /// something is missing.
    fileprivate func shortened(to count: Int) -> JSONValue {
        switch self {
        case .string(let text): return .string(text.shortened(to: count))
        case .array(let items):
            let kept = items.count <= count / 8 ? items : items.prefix(count / 8 - 1) + [.string("...")]
            return .array(kept.map { $0.shortened(to: count) })
        default: return self
        }
    }
}

extension JSONValue.Member {
    /// Whether programs need the member in every line, however long the rest is.
    fileprivate var isWhole: Bool { ["time", "level", "event"].contains(name) }

    fileprivate func shortened(to count: Int) -> JSONValue.Member {
        isWhole ? self : .init(name, value.shortened(to: count))
    }
}
