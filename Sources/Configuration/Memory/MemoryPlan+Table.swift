extension MemoryPlan.Purpose {
    /// Name in tables and messages.
    package var title: String {
        switch self {
        case .baseline: "process and libraries"
        case .videoEncoder: "video encoder"
        case .audioEncoder: "audio encoder"
        case .canvases: "pictures"
        case .ingestBand: "ingest buffer"
        case .scaler: "scaler"
        case .pcmQueue: "PCM queue"
        case .audioMixer: "audio mixer"
        case .packetLog: "packet log"
        case .sendBuffers: "send buffers"
        case .tls: "TLS"
        case .controlServer: "control server"
        case .snapshots: "snapshots"
        case .webhooks: "webhooks"
        case .curtain: "curtain"
        case .threadStacks: "thread stacks"
        case .reserve: "reserve"
        }
    }
}

extension MemoryPlan: CustomStringConvertible {
    /// A table with total, cap and free memory. If the plan does not fit, also the excess and the levers.
    package var description: String {
        var rows = lines.map { ($0.purpose.title, mebibytes($0.bytes), $0.how) }
        rows.append(("planned", mebibytes(totalBytes), fits ? "" : "does not fit"))
        rows.append(("cap", mebibytes(capBytes), "memory.cap_bytes"))
        rows.append(fits ? ("left", mebibytes(leftBytes), "") : ("too much", mebibytes(-leftBytes), ""))
        let width = rows.reduce(0) { max($0, $1.0.count) }
        var text = rows.enumerated().map { index, row in
            let line =
                padded(row.0, to: width) + "  " + leftPadded(row.1, to: 8) + " MiB"
                + (row.2.isEmpty ? "" : "  \(row.2)")
            return index == lines.count ? String(repeating: "-", count: width + 14) + "\n" + line : line
        }.joined(separator: "\n")
        if !fits { text += "\n\n" + wayOut }
        if fits, let price { text += "\n\nSubpixel motion search does not fit: motion \(price)." }
        return text + "\n"
    }

    /// The cost of the compromise, in words that follow a subject such as "it"; nil without a compromise.
    package var price: String? {
        compromise.map {
            "needs about \($0.bitratePercent) % more bitrate for the same picture; "
                + "memory.cap_bytes of \(sufficientCapMebibytes) MiB avoids it"
        }
    }

    /// The excess and the levers, for an error.
    package var wayOut: String {
        let excess =
            "The plan needs \(mebibytes(totalBytes)) MiB, "
            + "\(mebibytes(-leftBytes)) MiB more than memory.cap_bytes allows."
        if levers.isEmpty {
            let largest = lines.filter { $0.purpose != .baseline }.sorted { $0.bytes > $1.bytes }.prefix(3)
            return excess + " The largest parts are "
                + largest.map { "\($0.purpose.title) (\(mebibytes($0.bytes)) MiB)" }.joined(separator: ", ")
                + ". memory.cap_bytes: \(sufficientCapMebibytes)MiB suffices. \(Self.enforced)"
        }
        var rows = levers.map {
            let saved = leftPadded(mebibytes($0.savedBytes), to: 6)
            return ($0.change, "saves \(saved) MiB\($0.isEnough ? ", sufficient" : "")")
        }
        if let compromise, plannedMebibytes < sufficientCapMebibytes {
            let loss = "about \(compromise.bitratePercent) % more bitrate for the same picture"
            rows.append(("memory.cap_bytes: \(plannedMebibytes)MiB", "sufficient, with \(loss)"))
        }
        rows.append(("memory.cap_bytes: \(sufficientCapMebibytes)MiB", "sufficient, with the best picture quality"))
        let width = rows.reduce(0) { max($0, $1.0.count) }
        return excess + " Possible changes:\n"
            + rows.map { "  \(padded($0.0, to: width))  \($0.1)" }.joined(separator: "\n")
            + "\n\(Self.enforced)"
    }

    private static let enforced =
        "Raise MemoryMax= of the unit or --memory of the container with the cap."
}

/// Formats MiB with two decimals, rounded up.
private func mebibytes(_ bytes: Int) -> String {
    let hundredths = (bytes * 100 + (1 << 20) - 1) >> 20
    let rest = hundredths % 100
    return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
}

private func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
}
private func leftPadded(_ text: String, to width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}
