import ControlClient
import ControlProtocol

/// The screen of `top`, as lines that fit a terminal. Pure.
struct TopScreen {
    /// Nil before the first status.
    var status: StatusReport?
    var samples = TopSamples()
    /// The last events as short lines, the newest at the end.
    var events: [String] = []
    /// Why there is no new status; nil without a problem.
    var trouble: String?
    /// The address of the daemon.
    var place = ""

    static let curveSeconds = 300

    /// At most `rows` lines, none wider than `columns`.
    func lines(columns: Int, rows: Int, inColour: Bool) -> [String] {
        guard columns > 0, rows > 0 else { return [] }
        var lines: [TopLine] = []
        if let status {
            lines = head(status, columns)
            // One row is for the footer, and two are for the heading of the destinations and the space above it.
            let room = rows - lines.count - 3
            if room > 0 {
                lines.append(TopLine())
                lines += TopDestinations.lines(status.destinations, rows: room + 1)
            }
            let left = rows - lines.count - 3
            if left > 0, !events.isEmpty {
                lines += [TopLine(), TopLine("EVENTS", .faint)]
                lines += events.suffix(left).map { TopLine($0) }
            }
        } else {
            lines = [TopLine("upcastd at \(place)", .bold)]
        }
        lines = Array(lines.prefix(rows - 1))
        lines += Array(repeating: TopLine(), count: rows - 1 - lines.count)
        lines.append(footer)
        return lines.map { $0.rendered(columns, inColour: inColour) }
    }

    private var footer: TopLine {
        if let trouble { return TopLine(trouble, .bad) }
        return TopLine(status == nil ? "waiting for the first status; press q to quit" : "press q to quit", .faint)
    }

    private func head(_ status: StatusReport, _ columns: Int) -> [TopLine] {
        var title = TopLine(status.state.rawValue, Self.colour(status.state))
        title.add(" for \(Quantity.time(status.stateMilliseconds))")
        let daemon = "upcastd \(status.version), up \(Quantity.time(status.uptimeMilliseconds))"
        title.tab(to: columns - TerminalText.width(TerminalText.printable(daemon)))
        title.add(daemon, .faint)

        var client = Self.labelled("client")
        if let who = status.client {
            client.add(who.kind.isEmpty ? who.name : "\(who.name) (\(who.kind))")
            client.add(" for \(Quantity.time(who.connectedMilliseconds))", .faint)
        } else {
            client.add("none")
        }
        let video = status.video
        var canvas = Self.labelled("canvas")
        canvas.add("\(video.width)x\(video.height) at \(video.frameRate) frames/s, \(video.encoder)")
        if !video.effort.isEmpty {
            canvas.add(" \(video.effort)", video.effort == video.configuredEffort ? .plain : .warning)
        }
        if !video.source.isEmpty { canvas.add(" from \(video.source)", .faint) }
        var drops = Self.labelled("drops")
        let counters = StatusText.counters(status.drops)
        drops.add(counters.isEmpty ? "none" : counters, counters.isEmpty ? .plain : .warning)
        return [title, client] + privacy(status.privacy) + [canvas] + curves(status, columns) + [drops]
    }

    /// Lines for the curtain, standing regions and disabled protections; empty without any.
    private func privacy(_ privacy: PrivacyStatus) -> [TopLine] {
        func line(_ label: String, _ text: String, _ colour: TopLine.Colour) -> TopLine? {
            guard !text.isEmpty else { return nil }
            var line = Self.labelled(label)
            line.add(text, colour)
            return line
        }
        return [
            line("curtain", StatusText.curtain(privacy), .warning), line("hidden", StatusText.regions(privacy), .plain),
            line("exposed", StatusText.exposed(privacy), .bad),
        ].compactMap(\.self)
    }

    private func curves(_ status: StatusReport, _ columns: Int) -> [TopLine] {
        let (video, queue, memory) = (status.video, status.queue, status.memory)
        let last = samples.samples.last ?? .init()
        let limit = memory.limitBytes > 0 ? memory.limitBytes : memory.capBytes
        let divisor = video.frameRateDivisor > 1 ? ", 1 in \(video.frameRateDivisor)" : ""
        let frames = samples.samples.reduce(1) { max($0, $1.framesPerSecond) }
        let rows: [(label: String, text: String, top: Double, value: (TopSamples.Sample) -> Double)] = [
            (
                "bitrate", "\(video.bitsPerSecond / 1000) of \(Quantity.rate(video.targetBitsPerSecond))",
                Double(max(video.targetBitsPerSecond, samples.samples.reduce(0) { max($0, $1.bitsPerSecond) })),
                { Double($0.bitsPerSecond) }
            ),
            (
                "queue", "\(queue.milliseconds) of \(queue.capacityMilliseconds) ms",
                Double(queue.capacityMilliseconds), { Double($0.queueMilliseconds) }
            ),
            (
                "frames", "\(Quantity.fraction(Int(last.framesPerSecond * 10), 10)) frames/s\(divisor)", frames,
                { $0.framesPerSecond }
            ),
            (
                "memory", "\(Quantity.fraction(memory.neededBytes, 1 << 20)) of \(Quantity.bytes(limit))",
                Double(limit), { Double($0.memoryBytes) }
            ),
        ]
        let start = Self.labelWidth + 2 + rows.reduce(0) { max($0, $1.text.count) }
        let cells = max(0, min(columns - start, Self.curveSeconds))
        return rows.map { row in
            var line = Self.labelled(row.label)
            line.add(row.text)
            line.tab(to: start)
            line.add(
                Sparkline.text(samples.cells(cells, seconds: Self.curveSeconds, row.value), top: row.top), .curve)
            return line
        }
    }

    private static let labelWidth = 9

    private static func labelled(_ label: String) -> TopLine {
        TopLine(TerminalText.padded(label, to: labelWidth), .faint)
    }

    private static func colour(_ state: StatusReport.State) -> TopLine.Colour {
        switch state {
        case .live: .good
        case .reconnecting: .bad
        case .starting, .paused, .draining, .stopping: .warning
        case .idle: .bold
        }
    }
}
