internal import Buffering
internal import MediaCore
internal import Publishing

/// Figures for all destinations of a broadcast together.
extension [DestinationSnapshot] {
    /// At least one server has got packets and takes more. Files count only if there is no server.
    var isPublishing: Bool {
        let servers = filter(\.isServer)
        return (servers.isEmpty ? self : servers).contains(where: \.takesPackets)
    }

    /// There are destinations, and all of them have failed.
    var noneIsLeft: Bool { !isEmpty && allSatisfy { $0.state == .failed } }

    /// The error of each destination that failed or could not be reached at the end.
    var failures: String {
        filter { $0.state == .failed || !$0.isDrained }.compactMap(\.lastError?.failure).joined(separator: "; ")
    }

    /// The backlog of the destination that is furthest behind. If any destination takes packets, only such
    /// destinations count.
    var backlog: CursorBacklog {
        let taking = filter(\.takesPackets)
        return (taking.isEmpty ? self : taking).map(\.backlog).max { $0.duration < $1.duration } ?? CursorBacklog()
    }

    /// How late packets reach the slowest destination that takes any.
    var lag: MediaTime { filter(\.link.isPublishing).map(\.link.lateness).max() ?? .zero }
}

extension ClientAdvice.Destinations {
    /// Adds one destination. A stopped destination should not take packets.
    mutating func note(_ snapshot: DestinationSnapshot, at now: MediaTime) {
        if snapshot.link.isPublishing { lag = max(lag, snapshot.link.lateness) }
        guard snapshot.state != .stopped else { return }
        total += 1
        if snapshot.isServer { servers += 1 }
        if let next = snapshot.nextAttempt {
            let wait = max(.zero, next - now)
            nextAttempt = min(wait, nextAttempt ?? wait)
        }
        if snapshot.takesPackets {
            publishing += 1
            if snapshot.isServer { serversPublishing += 1 }
        } else if lost == nil {
            lost = snapshot.lastError?.description
        }
    }
}

extension DestinationSnapshot {
    var sentPackets: Int { video.packets + audio.packets }

    /// Encoded packets that the destination's viewers did not get: dropped for any cause, still unsent at the end, or
    /// all packets if it never went live. Packets that the curtain took back do not count as lost.
    var lostPackets: Int {
        guard sentPackets > 0 || isDrained else { return offeredPackets }
        let leftOut = drops.total - drops.video.takenBack - drops.audio.takenBack
        return leftOut + (isDrained ? 0 : backlog.packets)
    }

    /// Connected, and a first packet has gone out. Before that nothing reaches viewers.
    var takesPackets: Bool { state == .publishing && video.packets > 0 }
}
