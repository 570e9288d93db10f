import ControlProtocol

/// A status report for people: one aligned line for each thing, with units.
enum StatusText {
    static func render(_ status: StatusReport) -> String {
        var lines: [(label: String, text: String)] = []
        func line(_ label: String, _ parts: String...) {
            let text = parts.filter { !$0.isEmpty }.joined(separator: ", ")
            if !text.isEmpty { lines.append((label, text)) }
        }

        line("state", "\(status.state.rawValue) for \(Quantity.time(status.stateMilliseconds))")
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
            "video", "\(video.width)x\(video.height) at \(video.frameRate) frames/s", video.encoder,
            "\(Quantity.rate(video.bitsPerSecond)) of \(Quantity.rate(video.targetBitsPerSecond))")
        if !video.source.isEmpty { line("", "from \(video.source)") }
        line(
            "", "\(video.framesReceived) received", "\(video.framesEncoded) encoded",
            "\(video.framesRepeated) repeated",
            Quantity.counted(video.keyframes, "keyframe"))

        let audio = status.audio
        line(
            "audio", "\(audio.sampleRate) Hz", Quantity.counted(audio.channels, "channel"),
            Quantity.rate(audio.targetBitsPerSecond))
        line(
            "", "app \(Quantity.counted(audio.appBlocksReceived, "block"))",
            "microphone \(Quantity.counted(audio.microphoneBlocksReceived, "block"))",
            audio.sampleRate > 0 ? "silence \(Quantity.time(audio.silenceSamples * 1000 / audio.sampleRate))" : "")

        line("drops", counters(status.drops))
        let queue = status.queue
        line(
            "queue", "\(queue.milliseconds) of \(queue.capacityMilliseconds) ms",
            "\(Quantity.bytes(queue.bytes)) of \(Quantity.bytes(queue.capacityBytes))",
            Quantity.counted(queue.packets, "packet"))
        if !status.timeline.isEmpty { line("timeline", counters(status.timeline)) }
        for (index, latency) in status.latency.enumerated() {
            line(
                index == 0 ? "latency" : "",
                "\(latency.path) \(Quantity.fraction(latency.averageMicroseconds, 1000)) ms on average",
                "\(Quantity.fraction(latency.maximumMicroseconds, 1000)) ms at most")
        }

        let memory = status.memory
        line(
            "memory",
            "\(Quantity.bytes(memory.residentBytes)) resident (peak \(Quantity.bytes(memory.peakResidentBytes)), "
                + "\(Quantity.bytes(memory.anonymousBytes)) anonymous)",
            "planned \(Quantity.bytes(memory.planBytes)) of \(Quantity.bytes(memory.capBytes))")

        let width = lines.reduce(0) { max($0, $1.label.count) }
        let head = lines.map { printable("\(pad($0.label, width))  \($0.text)") }
        return (head + destinations(status.destinations)).joined(separator: "\n") + "\n"
    }

    private static func destinations(_ destinations: [DestinationStatus]) -> [String] {
        guard !destinations.isEmpty else { return ["", "no destinations"] }
        let header = ["DESTINATION", "STATE", "FOR", "SENT", "ACKNOWLEDGED", "BEHIND", "CONNECTS", "WHERE"]
        let rows = destinations.map { destination in
            [
                destination.name, destination.state.rawValue, Quantity.time(destination.stateMilliseconds),
                Quantity.bytes(destination.bytesSent), Quantity.bytes(destination.bytesAcknowledged),
                "\(destination.backlogMilliseconds) ms", "\(destination.connects)", destination.url
            ].map(printable)
        }
        let widths = header.indices.map { column in ([header] + rows).reduce(0) { max($0, $1[column].count) } }
        func joined(_ row: [String]) -> String {
            row.indices.map { $0 == row.count - 1 ? row[$0] : pad(row[$0], widths[$0]) }.joined(separator: "  ")
        }
        var lines = ["", joined(header)]
        for (destination, row) in zip(destinations, rows) {
            lines.append(joined(row))
            if !destination.drops.isEmpty { lines.append("  drops: " + printable(counters(destination.drops))) }
            if let error = destination.lastError { lines.append("  last error: " + printable(error)) }
        }
        return lines
    }

    private static func counters(_ counters: [Counter]) -> String {
        counters.isEmpty ? "none" : counters.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Names come from clients and errors from servers: nothing that a terminal would act on gets through.
    private static func printable(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            shown.append(isControl ? "?" : scalar)
        }
        return String(shown)
    }
}
