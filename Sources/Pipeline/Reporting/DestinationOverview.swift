internal import Buffering
internal import MediaCore
internal import Publishing

/// What all destinations of a broadcast come to together.
extension [DestinationSnapshot] {
    /// At least one has got packets and takes more.
    var isPublishing: Bool { contains(where: \.takesPackets) }

    /// There are destinations, and every one has been given up.
    var noneIsLeft: Bool { !isEmpty && allSatisfy { $0.state == .failed } }

    /// Why, for each destination that was given up or could not be reached at the end.
    var failures: String {
        filter { $0.state == .failed || !$0.isDrained }.compactMap(\.lastError?.failure).joined(separator: "; ")
    }

    /// What has yet to be sent to the destination that is furthest behind, of those that take packets if any does.
    var backlog: CursorBacklog {
        let taking = filter(\.takesPackets)
        return (taking.isEmpty ? self : taking).map(\.backlog).max { $0.duration < $1.duration } ?? CursorBacklog()
    }

    /// How late packets reach the destination that is furthest behind of those that take any.
    var lag: MediaTime { filter(\.link.isPublishing).map(\.link.lateness).max() ?? .zero }
}

extension ClientAdvice.Destinations {
    /// Adds one destination; what has stopped is not meant to take packets.
    mutating func note(_ snapshot: DestinationSnapshot, at now: MediaTime) {
        if snapshot.link.isPublishing { lag = max(lag, snapshot.link.lateness) }
        guard snapshot.state != .stopped else { return }
        total += 1
        if let next = snapshot.nextAttempt {
            let wait = max(.zero, next - now)
            nextAttempt = min(wait, nextAttempt ?? wait)
        }
        if snapshot.takesPackets {
            publishing += 1
        } else if lost == nil {
            lost = snapshot.lastError?.description
        }
    }
}

extension DestinationSnapshot {
    var sentPackets: Int { video.packets + audio.packets }

    /// Encoded packets that the destination's viewers did not get: left out for any cause, still unsent at the end, or
    /// all of them where it never went live. What the curtain took back is no loss.
    var lostPackets: Int {
        guard sentPackets > 0 || isDrained else { return offeredPackets }
        let leftOut = drops.total - drops.video.takenBack - drops.audio.takenBack
        return leftOut + (isDrained ? 0 : backlog.packets)
    }

    /// Connected, and a first packet has gone out: before that nothing reaches anybody.
    var takesPackets: Bool { state == .publishing && video.packets > 0 }
}
