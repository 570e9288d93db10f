import ControlProtocol

/// An event in `top`.
struct TopEvent: Equatable {
    var text: String
    /// As the daemon says it: info, notice, warning, error or critical.
    var level = ""

    init(_ text: String, level: String = "") { (self.text, self.level) = (text, level) }

    init(_ event: EventRecord) { (text, level) = (EventText.short(event), event.level) }

    /// Of its level.
    var colour: TopLine.Colour {
        switch level {
        case "warning": .warning
        case "error", "critical": .bad
        default: .plain
        }
    }

    /// The newest events in full that fit into `rows` lines. Of an event that is longer than that, its last lines are
    /// missing.
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
