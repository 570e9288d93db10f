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

    /// What the client is told of; counts are of those that are meant to take packets.
    func adviceFigures(at now: MediaTime) -> ClientAdvice.Destinations {
        let meant = filter { $0.state != .stopped }
        return ClientAdvice.Destinations(
            publishing: meant.count(where: \.takesPackets),
            total: meant.count,
            lag: lag,
            nextAttempt: meant.compactMap(\.nextAttempt).min().map { Swift.max(.zero, $0 - now) },
            lost: meant.first { !$0.takesPackets && $0.lastError != nil }?.lastError?.description)
    }
}

extension DestinationSnapshot {
    /// Connected, and a first packet has gone out: before that nothing reaches anybody.
    var takesPackets: Bool { state == .publishing && video.packets > 0 }
}
