import ControlClient
import ControlProtocol

/// The destinations in `top`: one line each, and further lines for problems if there is space.
enum TopDestinations {
    /// At most `rows` lines, including the heading. If they do not fit, the last line counts the rest.
    static func lines(_ all: [DestinationStatus], rows: Int, columns terminal: Int) -> [TopLine] {
        guard rows > 0 else { return [] }
        guard !all.isEmpty else { return [TopLine("no destinations", .faint)] }
        let names = all.map { TerminalText.fitted(TerminalText.printable($0.name), to: 20) }
        let width = max(11, names.reduce(0) { max($0, TerminalText.width($1)) }) + 2
        let times = all.map { $0.shownMilliseconds == 0 ? "-" : Quantity.time($0.shownMilliseconds) }
        let columns = [width, 14, max(5, times.reduce(0) { max($0, $1.count) }) + 2, 9, 12]
        func row(_ cells: [(String, TopLine.Colour)]) -> TopLine {
            var line = TopLine()
            var column = 0
            for (index, cell) in cells.enumerated() {
                line.add(cell.0, cell.1)
                guard index < columns.count else { break }
                column += columns[index]
                line.tab(to: column)
            }
            return line
        }
        let heading = ["DESTINATION", "STATE", "FOR", "LAG", "RECONNECTS", "WHERE"]
        var lines = [row(heading.map { ($0, .faint) })]
        var room = rows - 1
        let shown = all.count <= room ? all.count : max(0, room - 1)
        room -= all.count <= room ? all.count : shown + 1
        for (index, destination) in all.enumerated().prefix(shown) {
            lines.append(
                row([
                    (names[index], .plain), (destination.state.rawValue, colour(destination.state)),
                    (times[index], .plain), (lag(destination), .plain),
                    ("\(max(0, destination.connects - 1))", .plain), (destination.url, .plain),
                ]))
            let trouble = Self.trouble(destination)
            guard !trouble.isEmpty, room > 0 else { continue }
            let whole = TopLine("  " + trouble, .warning).wrapped(to: terminal, indent: 2)
            var reason = Array(whole.prefix(room))
            if reason.count < whole.count { reason[reason.count - 1].add(" …", .warning) }
            lines += reason
            room -= reason.count
        }
        if shown < all.count, rows > 1 { lines.append(TopLine("and \(all.count - shown) more", .faint)) }
        return lines
    }

    /// The lag of the destination; a destination that takes nothing has none.
    private static func lag(_ destination: DestinationStatus) -> String {
        switch destination.state {
        case .live, .congested: Quantity.time(destination.lagMilliseconds)
        case .idle, .connecting, .reconnecting, .failed, .closed: "-"
        }
    }

    private static func trouble(_ destination: DestinationStatus) -> String {
        switch destination.state {
        case .idle, .live, .closed: return StatusText.counters(destination.drops)
        case .connecting, .congested, .reconnecting, .failed: break
        }
        let wait = destination.nextAttemptMilliseconds
        return [
            wait > 0 ? "retry in \(Quantity.time(wait))" : "", error(of: destination),
            StatusText.counters(destination.drops),
        ].filter { !$0.isEmpty }.joined(separator: "; ")
    }

    /// The last error. A past error has its age.
    private static func error(of destination: DestinationStatus) -> String {
        guard let error = Reason.lastError(of: destination) else { return "" }
        switch destination.state {
        case .reconnecting, .failed: return error
        case .idle, .connecting, .live, .congested, .closed:
            return "\(error) (\(Quantity.time(destination.lastErrorAgeMilliseconds)) ago)"
        }
    }

    private static func colour(_ state: DestinationStatus.State) -> TopLine.Colour {
        switch state {
        case .live: .good
        case .connecting, .congested: .warning
        case .reconnecting, .failed: .bad
        case .idle, .closed: .plain
        }
    }
}
