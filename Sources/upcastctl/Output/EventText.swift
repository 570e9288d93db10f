import ControlClient
import ControlProtocol

/// An event in the format of the daemon's log: `TIME LEVEL MESSAGE key=value ...`.
enum EventText {
    static func line(_ data: JSONValue) -> String {
        var words = [text(data["time"]), text(data["level"]), text(data["message"])]
        if case .object(let fields) = data["fields"] ?? .null {
            words += fields.map { "\($0.name)=\(quotedIfNeeded(text($0.value)))" }
        }
        return TerminalText.printable(words.joined(separator: " "))
    }

    /// The event without the date and the fraction of its time, to save space.
    static func short(_ data: JSONValue) -> String {
        var line = line(data)
        let time = text(data["time"])
        if line.hasPrefix(time), let from = time.firstIndex(of: "T"), time.count >= 19 {
            line = String(time[time.index(after: from)...].prefix(8)) + line.dropFirst(time.count)
        }
        return line
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text): text
        case nil: "?"
        case .some(let other): String(decoding: other.serialized(), as: UTF8.self)
        }
    }

    private static func quotedIfNeeded(_ value: String) -> String {
        let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x7F }
        return isPlain ? value : String(decoding: JSONValue.string(value).serialized(), as: UTF8.self)
    }
}
