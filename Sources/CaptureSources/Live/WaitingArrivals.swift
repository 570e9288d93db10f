internal import MediaCore

/// The arrival times of the bytes that wait in a buffer. Pure.
///
/// A reader that is late takes old bytes. Their time is when they arrived, not when they were read.
struct WaitingArrivals {
    private struct Mark {
        /// Bytes since the beginning of the pipe.
        var end: Int
        let began: MediaTime
        var time: MediaTime
    }

    private static let resolution = MediaTime.milliseconds(2)
    /// Two seconds of arrivals. Bytes that arrive when it is full get the time of the last mark.
    static let capacity = 1024

    private var marks: [Mark] = []
    /// The marks before this index belong to bytes that were taken.
    private var first = 0
    private var (total, taken) = (0, 0)
    /// When the last byte that was taken arrived; nil before the first.
    private(set) var lastTaken: MediaTime?

    init() { marks.reserveCapacity(2 * Self.capacity) }

    /// Notes that bytes have arrived.
    mutating func note(_ bytes: Int, at time: MediaTime) {
        total += bytes
        let isFull = marks.count - first >= Self.capacity
        if let last = marks.last, first < marks.count, isFull || time - last.began < Self.resolution {
            marks[marks.count - 1].end = total
            marks[marks.count - 1].time = time
            return
        }
        if marks.count == 2 * Self.capacity {
            marks.removeFirst(first)
            first = 0
        }
        marks.append(Mark(end: total, began: time, time: time))
    }

    /// Notes that the oldest waiting bytes were taken.
    mutating func take(_ bytes: Int) {
        guard bytes > 0 else { return }
        taken += bytes
        while first < marks.count - 1, marks[first].end < taken { first += 1 }
        if first < marks.count { lastTaken = marks[first].time }
    }
}
