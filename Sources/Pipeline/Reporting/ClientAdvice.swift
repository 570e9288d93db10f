internal import IngestProtocol
internal import MediaCore
internal import Publishing

/// Decides what the client is told about the state of the broadcast. It runs once a second and when a destination
/// changes, and returns a message only if the state is new.
///
/// Pure: figures in, message out, so tests need no broadcast.
struct ClientAdvice {
    /// The destinations that should take packets.
    struct Destinations: Equatable {
        /// The number of destinations that take packets.
        var publishing = 0
        var total = 0
        /// The servers among them, which viewers can watch. A recording beside a dead server is not on air.
        var serversPublishing = 0
        var servers = 0
        /// How late packets reach the slowest destination.
        var lag = MediaTime.zero
        /// Time until the next attempt of a destination that is down; nil if none is planned.
        var nextAttempt: MediaTime?
        /// The error of a destination that is down, as a sentence.
        var lost: String?

        /// Viewers get the broadcast, or all destinations are recordings and one takes it.
        var isReached: Bool { servers > 0 ? serversPublishing > 0 : publishing > 0 }
    }

    /// Frame counts are totals since the broadcast's start.
    struct Frames: Equatable {
        var received: UInt64 = 0
        /// Received frames that a newer one replaced before they were encoded.
        var wasted: UInt64 = 0
    }

    /// A destination is congested above this lag, until the lag falls below half of it.
    static let congestedLag = LinkReport.congestedLateness
    /// The share of frames that are never encoded, above which a client wastes processor time on both sides.
    private static let wastedShare = 0.2
    /// For how many seconds in a row frames are wasted before the client is told. One that catches up after a delay is
    /// not too fast.
    private static let patience = 3

    private var last: Frames?
    /// Frames used in each of the last seconds in which too many were wasted; at most `patience` entries.
    private var used: [Int] = []
    /// The frames per second that would be enough, while the client sends too many.
    private var enough: (frames: Int, sentence: String)?
    private var said: BroadcastState?

    /// Called once a second. Also checks whether the client sends more than is used for several seconds in a row.
    ///
    /// - Parameter maxFrameRate: the canvas's frame rate, which limits the requested one.
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
            // The best of these seconds, because the others may have had less to encode.
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

    /// Called when a destination has changed.
    mutating func look(_ destinations: Destinations) -> StateMessage? {
        guard destinations.isReached else { return withoutDestination(destinations) }
        let milliseconds = destinations.lag.milliseconds
        if destinations.lag > (said == .congested ? half(Self.congestedLag) : Self.congestedLag) {
            return say(
                .congested, value: milliseconds,
                "impaired: the network takes less than is encoded; packets are \(destinations.lag) late")
        }
        if destinations.publishing < destinations.total, let lost = destinations.lost {
            return say(.degraded, value: Int64(destinations.publishing), "on air without one destination: \(lost)")
        }
        if let enough { return say(.slowDown, value: Int64(enough.frames), enough.sentence) }
        return say(
            .live, value: 0,
            destinations.servers > 0
                ? "on air: packets reach the destination" : "off air, recording: packets reach the destination")
    }

    private mutating func withoutDestination(_ destinations: Destinations) -> StateMessage? {
        guard let next = destinations.nextAttempt else {
            // The first connection is being made, or the broadcast has ended. Other messages report both.
            said = nil
            return nil
        }
        let why = destinations.lost ?? "the connection was lost"
        return say(.reconnecting, value: next.milliseconds, "off air: \(why)")
    }

    /// - Parameter text: made only for a new state, so that a settled broadcast allocates nothing here.
    private mutating func say(
        _ state: BroadcastState, value: Int64, _ text: @autoclosure () -> String
    ) -> StateMessage? {
        guard state != said else { return nil }
        said = state
        return StateMessage(state, value: UInt32(clamping: value), text: text())
    }

    private func half(_ time: MediaTime) -> MediaTime { MediaTime(nanoseconds: time.nanoseconds / 2) }
}
