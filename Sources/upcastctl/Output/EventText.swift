import ControlClient
import ControlProtocol

/// An event in the format of the daemon's log: `TIME LEVEL MESSAGE key=value ...`.
enum EventText {
    static func line(_ event: EventRecord) -> String {
        let words = [event.time, event.level, event.message].map { $0.isEmpty ? "?" : $0 } + event.fields.map(word)
        return TerminalText.printable(words.joined(separator: " "))
    }

    /// The event for `top`: the time of day, the message and fields, then the cause and the consequence as sentences.
    static func short(_ event: EventRecord) -> String {
        func sentence(_ name: String) -> String? { event.fields.first { $0.name == name }.map { text($0.value) } }
        var words = [timeOfDay(event.time)] + (["info", "notice", ""].contains(event.level) ? [] : [event.level])
        words.append(event.message)
        words += event.fields.filter { !["why", "now", "what"].contains($0.name) }.map(word)
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

    private static func word(_ field: JSONValue.Member) -> String {
        "\(field.name)=\(quotedIfNeeded(text(field.value)))"
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .array(let items): items.map { text($0) }.joined(separator: ", ")
        default: String(decoding: value.serialized(), as: UTF8.self)
        }
    }

    private static func quotedIfNeeded(_ value: String) -> String {
        let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x7F }
        return isPlain ? value : String(decoding: JSONValue.string(value).serialized(), as: UTF8.self)
    }
}
