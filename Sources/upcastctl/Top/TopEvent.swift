import ControlProtocol

/// An event in `top`.
struct TopEvent: Equatable {
    var text: String
    /// The daemon's level: info, notice, warning, error or critical.
    var level = ""

    init(_ text: String, level: String = "") { (self.text, self.level) = (text, level) }

    init(_ event: EventRecord) { (text, level) = (EventText.short(event), event.level) }

    /// The colour of its level.
    var colour: TopLine.Colour {
        switch level {
        case "warning": .warning
        case "error", "critical": .bad
        default: .plain
        }
    }

    /// The newest complete events that fit into `rows` lines. If the newest event alone is longer, its last lines are
    /// cut off.
    static func lines(_ events: [TopEvent], columns: Int, rows: Int) -> [TopLine] {
        var lines: [TopLine] = []
        for event in events.reversed() {
            let own = TopLine(event.text, event.colour).wrapped(to: columns, indent: 9)
            guard !lines.isEmpty else {
                lines = Array(own.prefix(rows))
                continue
            }
            guard lines.count + own.count <= rows else { break }
            lines = own + lines
        }
        return lines
    }
}
