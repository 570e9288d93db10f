internal import IngestProtocol
internal import MediaCore
internal import Publishing

/// What the client is told of how the broadcast is doing: looked at once a second and when a destination changes, said
/// only when it is news.
///
/// Pure: figures in, message out, so that it is tested without a broadcast.
struct ClientAdvice {
    /// The destinations that are meant to take packets.
    struct Destinations: Equatable {
        /// Those that do.
        var publishing = 0
        var total = 0
        /// How late packets reach the slowest of them.
        var lag = MediaTime.zero
        /// Until the next attempt of one that is down; nil where none is planned.
        var nextAttempt: MediaTime?
        /// What is wrong with one that is down, in a sentence.
        var lost: String?
    }

    /// Frame counts are totals since the broadcast's start.
    struct Frames: Equatable {
        var received: UInt64 = 0
        /// Received, but replaced by a newer one before they were encoded.
        var wasted: UInt64 = 0
    }

    /// Above this a destination is congested, and below half of it no longer.
    static let congestedLag = LinkReport.congestedLateness
    /// A client wastes its own and our time when this share of its frames is never encoded.
    private static let wastedShare = 0.2
    /// For as many seconds: a client that catches up after it was held up is not too fast.
    private static let patience = 3

    private var last: Frames?
    /// Frames used in each of the last seconds in which too many were wasted; as many as `patience` at most.
    private var used: [Int] = []
    /// Frames that would be enough, as long as the client sends too many.
    private var enough: (frames: Int, sentence: String)?
    private var said: BroadcastState?

    /// Once a second: also whether the client sends more than is used, for some seconds on end.
    ///
    /// - Parameter maxFrameRate: what the canvas takes; no more is ever asked for.
    mutating func tick(_ destinations: Destinations, _ frames: Frames, maxFrameRate: Double) -> StateMessage? {
        defer { last = frames }
        enough = nil
        let received = last.map { frames.received - $0.received } ?? 0
        let wasted = last.map { min(received, frames.wasted - $0.wasted) } ?? 0
        guard Double(wasted) > Self.wastedShare * Double(received) else {
            used.removeAll(keepingCapacity: true)
            return look(destinations)
        }
        if used.count == Self.patience { used.removeFirst() }
        used.append(Int(received - wasted))
        if used.count == Self.patience {
            // The best of these seconds: the others may have had less to encode.
            let enough = max(1, min(Int(maxFrameRate), used.max() ?? 1))
            self.enough = (
                enough,
                "for \(Self.patience) seconds more than a fifth of the frames were replaced by newer ones before they "
                    + "were encoded (in the last, \(wasted) of \(received)); \(enough) a second would be enough, until "
                    + "another state comes"
            )
        }
        return look(destinations)
    }

    /// Whenever a destination has changed.
    mutating func look(_ destinations: Destinations) -> StateMessage? {
        guard destinations.publishing > 0 else { return withoutDestination(destinations) }
        let milliseconds = destinations.lag.milliseconds
        if destinations.lag > (said == .congested ? half(Self.congestedLag) : Self.congestedLag) {
            return say(
                .congested, value: milliseconds,
                "the network takes less than is encoded; packets are \(milliseconds) ms late")
        }
        if destinations.publishing < destinations.total, let lost = destinations.lost {
            return say(.degraded, value: Int64(destinations.publishing), lost)
        }
        if let enough { return say(.slowDown, value: Int64(enough.frames), enough.sentence) }
        return say(.live, value: 0, "packets reach the destination")
    }

    private mutating func withoutDestination(_ destinations: Destinations) -> StateMessage? {
        guard let next = destinations.nextAttempt else {
            // The first connection is being made, or the end has come: others tell of these.
            said = nil
            return nil
        }
        return say(.reconnecting, value: next.milliseconds, destinations.lost ?? "the connection was lost")
    }

    private mutating func say(_ state: BroadcastState, value: Int64, _ text: String) -> StateMessage? {
        guard state != said else { return nil }
        said = state
        return StateMessage(state, value: UInt32(clamping: value), text: text)
    }

    private func half(_ time: MediaTime) -> MediaTime { MediaTime(nanoseconds: time.nanoseconds / 2) }
}
