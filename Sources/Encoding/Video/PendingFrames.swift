internal import MediaCore

/// Metadata of the frames that an encoder holds, by the encoder's time. Fixed size; allocates nothing after `init`.
struct PendingFrames {
    struct Entry {
        /// The time that was passed to the encoder.
        var time: MediaTime
        /// On the broadcast's timeline.
        var pts: MediaTime
        var arrival: MediaTime
        var epoch: CurtainEpoch
    }

    /// More than any encoder delays: x264's longest lookahead is 250, and its threads hold a few more.
    private static let capacity = 320
    private var entries = [Entry](
        repeating: Entry(time: MediaTime(nanoseconds: .min), pts: .zero, arrival: .zero, epoch: 0),
        count: PendingFrames.capacity)
    private var next = 0

    /// Adds a frame in place of the oldest.
    mutating func insert(_ entry: Entry) {
        entries[next] = entry
        next = (next + 1) % Self.capacity
    }

    /// The frame at the encoder's `time`; nil if it is not stored any more.
    subscript(time: MediaTime) -> Entry? { entries.first { $0.time == time } }
}
