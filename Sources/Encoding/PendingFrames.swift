internal import MediaCore

/// What is known of the frames that an encoder holds, by the encoder's time; of fixed size, it never allocates after
/// `init`.
struct PendingFrames {
    struct Entry {
        /// As the encoder was told.
        var time: MediaTime
        /// On the broadcast's timeline.
        var pts: MediaTime
        var arrival: MediaTime
        var epoch: CurtainEpoch
    }

    /// More than any encoder here delays: x264's longest lookahead is 250, and its threads hold a few more.
    private static let capacity = 320
    private var entries = [Entry](
        repeating: Entry(time: MediaTime(nanoseconds: .min), pts: .zero, arrival: .zero, epoch: 0),
        count: PendingFrames.capacity)
    private var next = 0

    /// Remembers a frame in place of the oldest.
    mutating func insert(_ entry: Entry) {
        entries[next] = entry
        next = (next + 1) % Self.capacity
    }

    /// The frame at the encoder's `time`; nil where it is not known any more.
    subscript(time: MediaTime) -> Entry? { entries.first { $0.time == time } }
}
