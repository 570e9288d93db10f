internal import ControlProtocol

extension StatusReport {
    /// "on air: main, 3.5 Mbit/s, queue 40 ms; memory 32 of 50 MiB needed". Values are rounded, so that the
    /// line does not change with every update.
    var line: String { words + memoryNeeded }

    /// systemd's own figure beside it is the charged memory, which looks full: it includes file pages that nobody
    /// needs.
    private var memoryNeeded: String {
        guard memory.limitBytes > 0 else { return "" }
        let (needed, limit) = ((memory.neededBytes + (1 << 20) - 1) >> 20, memory.limitBytes >> 20)
        return "; memory \(needed) of \(limit) MiB needed"
    }

    private var words: String {
        let (up, down) = (destinations.filter(\.takesPackets), destinations.filter { !$0.takesPackets })
        switch state {
        case .draining: return "draining: \(queue.milliseconds / 100 * 100) ms to be sent to \(up.list)"
        case .stopping: return "stopping: sending what is queued"
        case .idle, .starting, .live, .reconnecting, .paused: break
        }
        return switch air.state {
        case .idle: "idle: waits for a capture client"
        case .offAir:
            (down.servers.isEmpty ? "off air: no RTMP destination" : "off air: \(down.servers.list) not reached")
                + recordings
        case .onAir, .impaired, .hidden:
            "\(air.state.words): \(up.servers.list), \(rate), queue \(queue.milliseconds / 10 * 10) ms"
                + (state == .paused ? ", paused" : "") + recordings + down.lost
        }
    }

    private var recordings: String {
        let files = destinations.filter { $0.takesPackets && !$0.kind.isServer }
        return files.isEmpty ? "" : "; recording \(files.list)"
    }

    private var rate: String {
        let tenths = (video.bitsPerSecond + 50_000) / 100_000
        return "\(tenths / 10).\(tenths % 10) Mbit/s"
    }
}

extension DestinationStatus {
    fileprivate var takesPackets: Bool { state == .live || state == .congested }
}

extension [DestinationStatus] {
    fileprivate var servers: [DestinationStatus] { filter(\.kind.isServer) }

    fileprivate var list: String {
        isEmpty ? "no destination" : map { $0.state == .congested ? "\($0.name) (congested)" : $0.name }
            .joined(separator: ", ")
    }

    /// The destinations that are down while the broadcast continues.
    fileprivate var lost: String { isEmpty ? "" : "; without \(list)" }
}
