internal import IngestProtocol
internal import MediaCore

/// What the client is told of how the broadcast is doing: looked at once a second, said only when it changes.
///
/// Pure: figures in, message out, so that it is tested without a broadcast.
struct ClientAdvice {
    /// One look at a broadcast; frame counts are totals since its start.
    struct Figures: Equatable {
        var isPublishing = false
        /// Largest backlog of a destination.
        var backlog = MediaTime.zero
        var framesReceived: UInt64 = 0
        /// Received, but replaced by a newer one before they were encoded.
        var framesWasted: UInt64 = 0
    }

    /// Above this a destination is congested, and below half of it no longer: OBS's first threshold is 700 ms of queue,
    /// where it already drops.
    static let congestedBacklog = MediaTime.milliseconds(500)
    /// A client wastes its own and our time when this share of its frames is never encoded.
    private static let wastedShare = 0.2

    private var last: Figures?
    private var said: BroadcastState?

    /// - Parameter maxFrameRate: what the canvas takes; named as the rate that would be enough when nothing is known.
    mutating func advise(_ figures: Figures, maxFrameRate: Double) -> StateMessage? {
        defer { last = figures }
        guard figures.isPublishing else {
            said = nil
            return nil
        }
        if figures.backlog > (said == .congested ? half(Self.congestedBacklog) : Self.congestedBacklog) {
            return say(
                .congested, value: figures.backlog.milliseconds,
                "the network takes less than is encoded; \(figures.backlog.milliseconds) ms wait to be sent")
        }
        if let last, figures.framesReceived > last.framesReceived {
            let received = figures.framesReceived - last.framesReceived
            let wasted = min(received, figures.framesWasted - last.framesWasted)
            if Double(wasted) > Self.wastedShare * Double(received) {
                let enough = max(1, min(Int(maxFrameRate), Int(received - wasted)))
                return say(
                    .slowDown, value: Int64(enough),
                    "\(wasted) of \(received) frames in the last second were replaced by newer ones before they were "
                        + "encoded; \(enough) a second would be enough")
            }
        }
        return say(.live, value: 0, "packets reach the destination")
    }

    private mutating func say(_ state: BroadcastState, value: Int64, _ text: String) -> StateMessage? {
        guard state != said else { return nil }
        said = state
        return StateMessage(state, value: UInt32(clamping: value), text: text)
    }

    private func half(_ time: MediaTime) -> MediaTime { MediaTime(nanoseconds: time.nanoseconds / 2) }
}
