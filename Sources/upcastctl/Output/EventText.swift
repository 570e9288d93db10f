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

    /// The event for `top`: the time of day, the message and fields, then the cause and the consequence as sentences.
    static func short(_ data: JSONValue) -> String {
        var fields: [JSONValue.Member] = []
        if case .object(let members) = data["fields"] ?? .null { fields = members }
        func sentence(_ name: String) -> String? { fields.first { $0.name == name }.map { text($0.value) } }
        let level = text(data["level"])
        var words = [timeOfDay(text(data["time"]))] + (["info", "notice"].contains(level) ? [] : [level])
        words.append(text(data["message"]))
        words += fields.filter { !["why", "now", "what"].contains($0.name) }
            .map { "\($0.name)=\(quotedIfNeeded(text($0.value)))" }
        let why = (sentence("why") ?? sentence("what")).map {
            Reason.withoutAddress($0, sentence("destination") ?? "")
        }
        let sentences = [why, sentence("now")].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "; ")
        return TerminalText.printable(words.joined(separator: " ") + (sentences.isEmpty ? "" : ": \(sentences)"))
    }

    /// `09:25:01` of `2026-11-22T09:25:01.253Z`.
    private static func timeOfDay(_ time: String) -> String {
        guard let from = time.firstIndex(of: "T"), time.count >= 19 else { return time }
        return String(time[time.index(after: from)...].prefix(8))
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text): text
        case .array(let items): items.map { text($0) }.joined(separator: ", ")
        case nil: "?"
        case .some(let other): String(decoding: other.serialized(), as: UTF8.self)
        }
    }

    private static func quotedIfNeeded(_ value: String) -> String {
        let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x7F }
        return isPlain ? value : String(decoding: JSONValue.string(value).serialized(), as: UTF8.self)
    }
}
