import ControlClient
import ControlProtocol

/// A status report as text: one aligned line for each item, with units. Zero values are omitted.
enum StatusText {
    /// The holders of the curtain; empty if the curtain is down.
    static func curtain(_ privacy: PrivacyStatus) -> String {
        guard privacy.curtain.isUp else { return "" }
        return "up, held by \(holders(privacy))"
    }

    /// Who holds the curtain, why and for how long.
    static func holders(_ privacy: PrivacyStatus) -> String {
        privacy.curtain.holders.map { holder in
            let reason = holder.reason.isEmpty ? "" : " (\(holder.reason))"
            return "\(Self.holder(holder.holder, holder.user))\(reason) for \(Quantity.time(holder.heldMilliseconds))"
        }.joined(separator: ", ")
    }

    /// The name of a holder. Apps of several users may have the same name.
    static func holder(_ name: String, _ user: Int?) -> String {
        user.map { "\(name) of user \($0)" } ?? name
    }

    static func regions(_ privacy: PrivacyStatus) -> String {
        privacy.regions.isEmpty ? "" : Quantity.counted(privacy.regions.count, "region")
    }

    /// The disabled protections.
    static func exposed(_ privacy: PrivacyStatus) -> String {
        let off = privacy.protections.filter { !$0.isOn }.map(\.name)
        return off.isEmpty ? "" : "off: \(off.joined(separator: ", "))"
    }

    /// What viewers get, and since when: "off air for 1 min 30 s, recording".
    static func air(_ status: StatusReport) -> String {
        "\(status.air.state.words) for \(Quantity.time(status.air.sinceMilliseconds))"
            + (status.air.isRecording ? ", recording" : "")
    }

    /// "app -12.0 dBFS peak, -20.1 RMS", or for how long it has been silent.
    static func level(_ level: AudioLevelStatus) -> String {
        guard level.silentMilliseconds < 1000 else {
            return "\(level.source) silent for \(Quantity.time(level.silentMilliseconds))"
        }
        return "\(level.source) \(level.peakDecibels) dBFS peak, \(level.rmsDecibels) RMS"
    }

    static func render(_ status: StatusReport) -> String {
        var lines: [(label: String, text: String)] = []
        func line(_ label: String, _ parts: String...) {
            let text = parts.filter { !$0.isEmpty }.joined(separator: ", ")
            if !text.isEmpty { lines.append((label, text)) }
        }

        // The first answers are those that an operator needs first: on air, since when, how late, and why not.
        line(
            "state", air(status), Trouble.behind(status),
            [.paused, .draining, .stopping].contains(status.state) ? status.state.rawValue : "")
        line("trouble", Trouble.reasons(status))
        line("curtain", curtain(status.privacy))
        line("hidden", regions(status.privacy))
        line("exposed", exposed(status.privacy))
        line(
            "audit",
            unlessZero(status.privacy.auditLost) { "\(Quantity.counted($0, "line")) lost" })
        line(
            "daemon", "upcastd \(status.version)", "up \(Quantity.time(status.uptimeMilliseconds))",
            Quantity.counted(status.broadcasts, "broadcast"))
        if let client = status.client {
            line(
                "client", client.kind.isEmpty ? client.name : "\(client.name) (\(client.kind))",
                "connected for \(Quantity.time(client.connectedMilliseconds))")
        } else {
            line("client", "none")
        }

        let video = status.video
        line(
            "video", "\(video.width)x\(video.height) at \(video.frameRate) frames/s",
            video.effort.isEmpty ? video.encoder : "\(video.encoder) \(video.configuredEffort)",
            (video.bitsPerSecond > 0 ? "\(Quantity.rate(video.bitsPerSecond)) of " : "")
                + Quantity.rate(video.targetBitsPerSecond),
            video.frameRateDivisor > 1 ? "1 frame in \(video.frameRateDivisor)" : "")
        if video.effort != video.configuredEffort {
            line("", "effort \(video.effort) instead of \(video.configuredEffort): the processor is overloaded")
        }
        if !video.source.isEmpty {
            line("", "from \(video.source)", video.scaler.isEmpty ? "" : "scaled by \(video.scaler)")
        }
        line(
            "", unlessZero(video.framesReceived) { "\(Quantity.counted($0, "frame")) received" },
            unlessZero(video.framesUnchanged) { "\($0) unchanged" },
            unlessZero(video.framesEncoded) { "\($0) encoded" },
            unlessZero(video.framesRepeated) { "of which \($0) repeated" },
            unlessZero(video.keyframes) { Quantity.counted($0, "keyframe") })

        let audio = status.audio
        line(
            "audio", "\(audio.sampleRate) Hz", Quantity.counted(audio.channels, "channel"),
            Quantity.rate(audio.targetBitsPerSecond))
        line(
            "", unlessZero(audio.appBlocksReceived) { "app \(Quantity.counted($0, "block"))" },
            unlessZero(audio.microphoneBlocksReceived) { "microphone \(Quantity.counted($0, "block"))" },
            audio.sampleRate > 0
                ? unlessZero(Quantity.milliseconds(of: audio.silenceSamples, rate: audio.sampleRate)) {
                    "silence \(Quantity.time($0))"
                } : "")

        line("", audio.levels.map(level).joined(separator: ", "))

        // Without a client, drops, queue and latency are omitted.
        let drops = counters(status.drops)
        if status.client != nil || !drops.isEmpty { line("drops", drops.isEmpty ? "none" : drops) }
        let queue = status.queue
        if queue.milliseconds > 0 || queue.bytes > 0 {
            line(
                "queue", Quantity.seconds(queue.milliseconds, of: queue.capacityMilliseconds),
                "\(Quantity.bytes(queue.bytes)) of \(Quantity.bytes(queue.capacityBytes)) queued")
        } else if status.client != nil {
            line("queue", "empty")
        }
        line("timeline", counters(status.timeline))
        for latency in status.latency where latency.maximumMicroseconds > 0 {
            line(
                "latency",
                "\(words(latency.path)) \(Quantity.fraction(latency.medianMicroseconds, 1000)) ms (p50)",
                "\(Quantity.fraction(latency.percentile99Microseconds, 1000)) ms (p99)",
                "\(Quantity.fraction(latency.maximumMicroseconds, 1000)) ms (max)")
        }

        let memory = status.memory
        // The needed memory decides. Resident memory includes file pages that the kernel can reclaim.
        let isKnown = memory.limitBytes > 0
        let isCap = !isKnown || memory.limitBytes == memory.capBytes
        line(
            "memory", isKnown ? "\(Quantity.part(memory.neededBytes, of: memory.limitBytes)) needed" : "",
            (isKnown && isCap
                ? Quantity.bytes(memory.planBytes) : Quantity.part(memory.planBytes, of: memory.capBytes)) + " planned",
            "\(Quantity.bytes(memory.residentBytes)) resident")
        line(
            "", isCap ? "" : "limit: \(memory.limit)",
            memory.givenUp.isEmpty
                ? "" : "given up: " + memory.givenUp.map { words($0.name) }.joined(separator: ", "))
        if memory.bitrateLossPercent > 0 {
            line(
                "", "too little for subpixel motion search: "
                    + "the same picture needs \(memory.bitrateLossPercent) % more bitrate")
        }

        for hook in status.webhooks {
            line(
                "webhook", "\(hook.name) (\(hook.url))", "\(hook.delivered) delivered",
                unlessZero(hook.failed) { "\($0) failed" }, unlessZero(hook.dropped) { "\($0) dropped" },
                unlessZero(hook.queued) { "\($0) queued" })
            if let error = hook.lastError {
                line("", "last error, \(Quantity.time(hook.lastErrorAgeMilliseconds ?? 0)) ago: \(error)")
            }
        }

        let head = lines.map { TerminalText.printable("\(pad($0.label, labelWidth))  \($0.text)") }
        return (head + destinations(status.destinations)).joined(separator: "\n") + "\n"
    }

    /// The text with lines of at most `columns` cells.
    static func wrapped(_ text: String, to columns: Int) -> String {
        // The head has labels, up to the first empty line; below it, indented lines belong to a destination.
        var isHead = true
        return text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line -> [String] in
            isHead = isHead && !line.isEmpty
            let indent = isHead ? labelWidth + 2 : line.hasPrefix("  ") ? 4 : 2
            return TerminalText.wrapped(String(line), to: columns, indent: indent)
        }.joined(separator: "\n")
    }

    /// The text with the colour of the state in its first line. The lines of troubles, of a curtain that is up, of
    /// disabled protections and of lost audit lines have the colour of a warning.
    static func coloured(_ text: String, _ state: TopLine.Colour) -> String {
        var isHead = true
        var colour: TopLine.Colour?
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            isHead = isHead && !line.isEmpty
            let label = line.prefix { $0 != " " }
            // A line without a label continues the line above it.
            if !label.isEmpty { colour = label == "state" ? state : warnings.contains(label) ? .warning : nil }
            guard isHead, let colour else { return String(line) }
            var coloured = TopLine(String(line.prefix(labelWidth + 2)))
            coloured.add(String(line.dropFirst(labelWidth + 2)), colour)
            return coloured.rendered(.max, inColour: true)
        }.joined(separator: "\n")
    }

    private static let warnings: Set<Substring> = ["trouble", "curtain", "exposed", "audit"]

    /// The width of the longest label, timeline.
    private static let labelWidth = 8

    private static func destinations(_ destinations: [DestinationStatus]) -> [String] {
        guard !destinations.isEmpty else { return ["", "no destinations"] }
        // Columns that are zero for all destinations are omitted. A single connect is omitted as well.
        let columns: [(header: String, cells: [String])] = [
            ("DESTINATION", destinations.map(\.name)),
            ("STATE", destinations.map(\.state.rawValue)),
            ("FOR", destinations.map { unlessZero($0.shownMilliseconds, Quantity.time) }),
            ("SENT", destinations.map { unlessZero($0.bytesSent, Quantity.bytes) }),
            ("ACKNOWLEDGED", destinations.map { unlessZero($0.bytesAcknowledged, Quantity.bytes) }),
            ("BEHIND", destinations.map { unlessZero($0.lagMilliseconds, Quantity.time) }),
            (
                "P50, P99",
                destinations.map { destination in
                    unlessZero(destination.latency.maximumMicroseconds) { _ in
                        "\(Quantity.fraction(destination.latency.medianMicroseconds, 1000)), "
                            + "\(Quantity.fraction(destination.latency.percentile99Microseconds, 1000)) ms"
                    }
                }
            ),
            ("CONNECTS", destinations.map { $0.connects > 1 ? "\($0.connects)" : "" }),
            ("WHERE", destinations.map(\.url)),
        ].filter { $0.1.contains { !$0.isEmpty } }
        var rows = [String](repeating: "", count: destinations.count + 1)
        for (index, column) in columns.enumerated() {
            let cells = [column.header] + column.cells.map { $0.isEmpty ? "-" : TerminalText.printable($0) }
            let width = index == columns.count - 1 ? 0 : cells.reduce(0) { max($0, $1.count) } + 2
            for row in rows.indices { rows[row] += pad(cells[row], width) }
        }
        var lines = ["", rows[0]]
        for (destination, row) in zip(destinations, rows.dropFirst()) {
            lines.append(row)
            let drops = counters(destination.drops)
            if !drops.isEmpty { lines.append("  not sent: " + TerminalText.printable(drops)) }
            let failures = counters(destination.failures)
            if !failures.isEmpty { lines.append("  failures: " + TerminalText.printable(failures)) }
            if destination.nextAttemptMilliseconds > 0 {
                lines.append("  next attempt in " + Quantity.time(destination.nextAttemptMilliseconds))
            }
            if destination.shortConnections > 0 {
                let count = Quantity.counted(destination.shortConnections, "connection")
                lines.append("  \(count) in a row closed within a second")
            }
            if let error = Reason.lastError(of: destination) {
                let age = Quantity.time(destination.lastErrorAgeMilliseconds)
                lines.append("  last error, \(age) ago: " + TerminalText.printable(error))
            }
        }
        return lines
    }

    /// The counters that are not zero: `video superseded 2, audio latency 60 ms`.
    static func counters(_ counters: [Counter]) -> String {
        counters.filter { $0.value != 0 }.map { counter in
            let unit = ["_ms", "_us", "_ppm"].first(where: counter.name.hasSuffix)
            let name = words(String(counter.name.dropLast(unit?.count ?? 0)))
            return "\(name) \(counter.value)" + (unit.map(words) ?? "")
        }.joined(separator: ", ")
    }

    static func words(_ name: String) -> String { String(name.map { $0 == "_" ? " " : $0 }) }

    private static func unlessZero(_ value: Int, _ text: (Int) -> String) -> String { value == 0 ? "" : text(value) }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
