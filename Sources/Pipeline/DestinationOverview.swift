internal import Buffering
internal import MediaCore
internal import Publishing

/// What all destinations of a broadcast come to together.
extension [DestinationSnapshot] {
    /// At least one takes packets.
    var isPublishing: Bool { contains { $0.state == .publishing } }

    /// There are destinations, and every one has been given up.
    var noneIsLeft: Bool { !isEmpty && allSatisfy { $0.state == .failed } }

    /// Why, for each destination that was given up or could not be reached at the end.
    var failures: String {
        filter { $0.state == .failed || !$0.isDrained }.compactMap(\.lastError).joined(separator: "; ")
    }

    /// What the destination that is furthest behind has yet to send.
    var backlog: CursorBacklog { map(\.backlog).max { $0.duration < $1.duration } ?? CursorBacklog() }

    /// How late packets reach the destination that is furthest behind of those that take any.
    var lag: MediaTime { filter(\.link.isPublishing).map(\.link.lateness).max() ?? .zero }

    /// What the client is told of; counts are of those that are meant to take packets.
    func adviceFigures(at now: MediaTime) -> ClientAdvice.Destinations {
        let meant = filter { $0.state != .stopped }
        return ClientAdvice.Destinations(
            publishing: meant.count { $0.state == .publishing },
            total: meant.count,
            lag: lag,
            nextAttempt: meant.compactMap(\.nextAttempt).min().map { Swift.max(.zero, $0 - now) },
            lost: meant.first { $0.state == .reconnecting || $0.state == .failed }?.lastError)
    }
}
