internal import MediaCore

/// When the frames that an encoder holds arrived, by presentation time; of fixed size, it never allocates after `init`.
struct PendingFrames {
    private struct Entry {
        var pts: MediaTime
        var arrival: MediaTime
    }

    /// More than any encoder here delays (x264's longest lookahead is 250, which no live settings use).
    private static let capacity = 64
    private var entries = [Entry](
        repeating: Entry(pts: MediaTime(nanoseconds: .min), arrival: .zero), count: PendingFrames.capacity)
    private var next = 0

    /// Remembers a frame in place of the oldest.
    mutating func insert(pts: MediaTime, arrival: MediaTime) {
        entries[next] = Entry(pts: pts, arrival: arrival)
        next = (next + 1) % Self.capacity
    }

    /// The arrival of the frame at `pts`; zero where it is not known any more.
    func arrival(of pts: MediaTime) -> MediaTime {
        entries.first { $0.pts == pts }?.arrival ?? .zero
    }
}
