internal import MediaCore

/// When the bytes of a pipe arrived. The capture times of a live source follow from that. Pure.
///
/// A live source delivers blocks in real time: its first sample was captured when the earliest block arrived, less the
/// length of that block. A decoder delivers as fast as it can, so that its arrivals say nothing about its samples.
struct Arrivals: Equatable {
    /// Bytes since the beginning of the pipe, and when the last of them arrived.
    private struct Mark: Equatable {
        let began: MediaTime
        var time: MediaTime
        var bytes: Int
    }

    /// Bytes that arrive within this time are one block.
    static let block = MediaTime.milliseconds(60)
    /// A live source is at most this much faster than real time, while clocks differ and pipes fill.
    private static let largestSpeed = 1.25
    private static let resolution = MediaTime.milliseconds(4)
    private static let maxMarks = 4096

    private var marks: [Mark] = []
    private var total = 0
    /// The source had to wait, or has ended: it is faster than real time.
    private var isAhead = false

    /// Notes that `count` bytes have arrived. Stops recording by itself after some 16 s.
    mutating func note(_ count: Int, at time: MediaTime) {
        total += count
        if let last = marks.last, time - last.began < Self.resolution {
            marks[marks.count - 1] = Mark(began: last.began, time: time, bytes: total)
        } else if marks.count < Self.maxMarks {
            marks.append(Mark(began: time, time: time, bytes: total))
        }
    }

    /// Notes that the source waits for its reader, or that the source has ended.
    mutating func noteAhead() { isAhead = true }

    /// When the first sample was captured; nil if the source is not live, or if too little has arrived.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: the byte rate of the media.
    ///   - unit: the size in bytes of a sample with one time, such as a picture. It has arrived when its last byte has.
    ///   - now: the end of the observation.
    func origin(bytesPerSecond: Double, unit: Int = 0, now: MediaTime) -> MediaTime? {
        guard let first = marks.first, total > unit, !isAhead, isLive(bytesPerSecond, since: first, now) else {
            return nil
        }
        let origins = marks.lazy.filter { $0.bytes >= unit }.map { mark in
            mark.time - MediaTime(seconds: Double(mark.bytes - unit) / bytesPerSecond)
        }
        return origins.min()
    }

    private func isLive(_ bytesPerSecond: Double, since first: Mark, _ now: MediaTime) -> Bool {
        let elapsed = (now - first.time).secondsAsDouble
        let arrived = Double(total - first.bytes) / bytesPerSecond
        return arrived <= elapsed * Self.largestSpeed + Double(largestBlock) / bytesPerSecond
    }

    /// The most bytes that have arrived within `block`.
    private var largestBlock: Int {
        var (largest, from) = (0, 0)
        for index in marks.indices {
            while marks[index].time - marks[from].time > Self.block { from += 1 }
            largest = max(largest, marks[index].bytes - (from > 0 ? marks[from - 1].bytes : 0))
        }
        return largest
    }
}
