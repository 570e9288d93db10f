import ControlClient
import ControlProtocol

/// The screen of `top`, as lines that fit a terminal. Pure.
struct TopScreen {
    /// Nil before the first status.
    var status: StatusReport?
    var samples = TopSamples()
    /// The last events, the newest at the end.
    var events: [TopEvent] = []
    /// Why there is no new status; nil without a problem.
    var trouble: String?
    /// How long ago the last status came.
    var silentMilliseconds = 0
    /// When the last status came: "09:25:01 UTC".
    var lastStatusTime = ""
    /// The address of the daemon.
    var place = ""
    var keys = TopKeys()
    /// The result of the last command.
    var notice: TopControl.Notice?

    static let labelWidth = 9
    /// A status comes each second. Figures that are older are marked.
    static let staleMilliseconds = 3000
    private static let maxChartHeight = 8

    private var isStale: Bool { trouble != nil || silentMilliseconds >= Self.staleMilliseconds }

    /// At most `rows` lines, none wider than `columns`.
    func lines(columns: Int, rows: Int, inColour: Bool) -> [String] {
        guard columns > 0, rows > 0 else { return [] }
        var footer = self.footer(columns)
        footer = Array(footer.prefix(max(1, rows / 2)))
        let room = rows - footer.count
        var lines = body(columns, room)
        lines = Array(lines.prefix(room))
        lines += Array(repeating: TopLine(), count: room - lines.count)
        return (lines + footer).map { $0.rendered(columns, inColour: inColour) }
    }

    private func body(_ columns: Int, _ rows: Int) -> [TopLine] {
        if keys.mode == .help { return help(columns) }
        guard let status else {
            let reason = trouble.map { TopLine("\($0); retrying", .bad).wrapped(to: columns, indent: 0) }
            return TopLine("upcastd at \(place)", .bold).wrapped(to: columns, indent: 0)
                + (reason ?? [TopLine("waiting for the first status", .faint)])
        }
        let banner = Array(self.banner(columns).prefix(max(1, rows / 2)))
        let layout = Layout(self, status, columns: columns, rows: max(0, rows - banner.count))
        // Old figures must not look like new ones.
        return banner + (isStale ? layout.lines.map { $0.coloured(.faint) } : layout.lines)
    }

    /// A warning that the figures are old, and why; empty while they are current.
    private func banner(_ columns: Int) -> [TopLine] {
        guard isStale else { return [] }
        let time = Quantity.seconds(silentMilliseconds)
        let head = TopLine("NO ANSWER for \(time): last figures are from \(lastStatusTime)", .alarm)
        let reason = TopLine(trouble.map { "\($0); retrying" } ?? "the daemon sends no status", .bad)
        return head.wrapped(to: columns, indent: 0) + reason.wrapped(to: columns, indent: 0)
    }

    private func help(_ columns: Int) -> [TopLine] {
        [TopLine("KEYS", .faint)]
            + TopKeys.help.flatMap { key, does in
                var line = TopLine("  \(key)  ", .bold)
                line.add(does)
                return line.wrapped(to: columns, indent: 5)
            } + [TopLine()]
            + TopLine("Any key closes this help. Events have the time in UTC.", .faint).wrapped(to: columns, indent: 0)
    }

    private func footer(_ columns: Int) -> [TopLine] {
        if keys.mode == .confirmsLowering {
            return TopLine(TopKeys.question, .alarm).wrapped(to: columns, indent: 0)
        }
        if let notice { return TopLine(notice.text, notice.isBad ? .bad : .good).wrapped(to: columns, indent: 0) }
        let all = "q quit  c curtain  p pause  r retry  k keyframe  ? help"
        return [TopLine(TerminalText.width(all) <= columns ? all : "q quit  ? help", .faint)]
    }
}

extension TopScreen {
    /// Chooses the parts that fit, the more important ones first. Rows that remain go to events and taller charts.
    struct Layout {
        private let screen: TopScreen
        private let status: StatusReport
        private let columns: Int
        private let rows: Int

        init(_ screen: TopScreen, _ status: StatusReport, columns: Int, rows: Int) {
            (self.screen, self.status, self.columns, self.rows) = (screen, status, columns, rows)
        }

        private enum Part: Int, CaseIterable {
            // These are in the order in which they are shown.
            case title, client, curtain, hidden, exposed, canvas, charts, drops, destinations
        }

        var lines: [TopLine] {
            let facts = TopFacts(status, columns: columns)
            let charts = TopCharts(
                status, screen.samples, columns: columns, labelWidth: TopScreen.labelWidth)
            var parts: [Part: [TopLine]] = [:]
            var left = rows
            func take(_ part: Part, _ lines: [TopLine]) {
                guard !lines.isEmpty, lines.count <= left else { return }
                parts[part] = lines
                left -= lines.count
            }
            take(.title, [facts.title(place: screen.place)])
            take(.curtain, facts.curtain)
            take(.exposed, facts.exposed)
            // Some rows are for the charts, unless the terminal is small.
            let few = min(1 + 2 * status.destinations.count, max(3, rows < 14 ? left - 1 : left * 2 / 3))
            let destinations = TopDestinations.lines(
                status.destinations, rows: min(left, max(few, left - charts.count - 2)), columns: columns)
            take(.destinations, destinations)
            var chartRows = 0
            // All charts, or the first ones.
            if left > 0 {
                chartRows = min(charts.count, left)
                left -= chartRows
            }
            if !facts.hasNoDrops { take(.drops, facts.drops) }
            take(.client, facts.client)
            take(.hidden, facts.hidden)
            take(.canvas, facts.canvas)
            if facts.hasNoDrops { take(.drops, facts.drops) }

            // The remaining rows: an empty line before each of two parts, events and their heading, taller charts.
            let count = TopEvent.lines(screen.events, columns: columns, rows: max(0, left - 3)).count
            let wanted = count == 0 ? 0 : count + 2
            var height = 1
            if chartRows == charts.count {
                let kept = min(wanted, max(10, left / 2))
                height = min(TopScreen.maxChartHeight, 1 + max(0, left - 1 - kept) / charts.count)
                left -= (height - 1) * chartRows
            }
            parts[.charts] = (0..<chartRows).flatMap { charts.lines($0, height: height) }

            var shown: [TopLine] = []
            for part in Part.allCases {
                guard let lines = parts[part] else { continue }
                if part == .destinations, left > 0 {
                    shown.append(TopLine())
                    left -= 1
                }
                shown += lines
            }
            // An empty line, the heading and an event.
            let fitting = TopEvent.lines(screen.events, columns: columns, rows: max(0, left - 2))
            guard left >= 3, !fitting.isEmpty else { return shown }
            return shown + [TopLine(), TopLine("EVENTS (UTC)", .faint)] + fitting
        }
    }
}
