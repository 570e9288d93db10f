internal import ControlProtocol

extension StatusReport {
    /// "live: main, 3.5 Mbit/s, queue 40 ms". Values are rounded, so that the line does not change with every update.
    var line: String {
        let (up, down) = (destinations.filter(\.takesPackets), destinations.filter { !$0.takesPackets })
        return switch state {
        case .idle: "idle: waits for a capture client"
        case .starting: "starting: \(down.list) not yet reached"
        case .live, .paused:
            "\(state.rawValue): \(up.list), \(rate), queue \(queue.milliseconds / 10 * 10) ms\(down.lost)"
        case .reconnecting: "reconnecting: \(down.list)"
        case .draining: "draining: \(queue.milliseconds / 100 * 100) ms to be sent to \(up.list)"
        case .stopping: "stopping: sending what is queued"
        }
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
    fileprivate var list: String {
        isEmpty ? "no destination" : map { $0.state == .congested ? "\($0.name) (congested)" : $0.name }
            .joined(separator: ", ")
    }

    /// The destinations that are down while the broadcast continues.
    fileprivate var lost: String { isEmpty ? "" : "; without \(list)" }
}
