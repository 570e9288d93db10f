import ControlClient
import ControlProtocol

/// The facts above the charts of `top`. Pure.
struct TopFacts {
    private let status: StatusReport
    private let columns: Int

    init(_ status: StatusReport, columns: Int) { (self.status, self.columns) = (status, columns) }

    /// The state on the left and the daemon on the right, as far as there is room for it.
    func title(place: String) -> TopLine {
        let state = ShownState(status)
        var title = TopLine(state.word, state.colour)
        title.add(" for \(Quantity.time(state.milliseconds))")
        let up = "up \(Quantity.time(status.uptimeMilliseconds))"
        let daemon = ["upcastd \(status.version) at \(place), \(up)", "upcastd \(status.version), \(up)", up]
            .map(TerminalText.printable)
            .first { TerminalText.width($0) + title.width + 2 <= columns }
        guard let daemon else { return title }
        title.tab(to: columns - TerminalText.width(daemon))
        title.add(daemon, .faint)
        return title
    }

    var client: [TopLine] {
        var line = Self.labelled("client")
        if let who = status.client {
            line.add(who.kind.isEmpty ? who.name : "\(who.name) (\(who.kind))")
            line.add(" for \(Quantity.time(who.connectedMilliseconds))", .faint)
        } else {
            line.add("none")
        }
        return wrapped(line)
    }

    var curtain: [TopLine] { line("curtain", StatusText.curtain(status.privacy), .warning) }
    var hidden: [TopLine] { line("hidden", StatusText.regions(status.privacy), .plain) }
    /// The disabled protections.
    var exposed: [TopLine] { line("exposed", StatusText.exposed(status.privacy), .bad) }

    var canvas: [TopLine] {
        let video = status.video
        var line = Self.labelled("canvas")
        line.add("\(video.width)x\(video.height) at \(video.frameRate) frames/s, \(video.encoder)")
        if !video.effort.isEmpty {
            line.add(" \(video.effort)", video.effort == video.configuredEffort ? .plain : .warning)
        }
        if !video.source.isEmpty { line.add(" from \(video.source)", .faint) }
        return wrapped(line)
    }

    var hasNoDrops: Bool { StatusText.counters(status.drops).isEmpty }

    var drops: [TopLine] {
        hasNoDrops
            ? line("drops", "none", .plain) : line("drops", StatusText.counters(status.drops), .warning)
    }

    /// A labelled line; no line if the text is empty.
    private func line(_ label: String, _ text: String, _ colour: TopLine.Colour) -> [TopLine] {
        guard !text.isEmpty else { return [] }
        var line = Self.labelled(label)
        line.add(text, colour)
        return wrapped(line)
    }

    private func wrapped(_ line: TopLine) -> [TopLine] { line.wrapped(to: columns, indent: TopScreen.labelWidth) }

    private static func labelled(_ label: String) -> TopLine {
        TopLine(TerminalText.padded(label, to: TopScreen.labelWidth), .faint)
    }
}
