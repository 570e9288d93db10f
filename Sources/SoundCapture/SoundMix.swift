package import MediaCore

/// Adds up what several programs play, which comes in streams of their own. Pure.
///
/// Frames are stereo, 16-bit, and have a place on the timeline: their number since its zero at 48 kHz. What has come in
/// is given out in order, once each stream that has begun has it, or everything had time to come.
package struct SoundMix {
    package static let sampleRate = Int64(48_000)
    /// How long the slowest stream is waited for.
    package static let patience = MediaTime.milliseconds(60)
    /// Times of one stream that differ less from its samples are jitter.
    static let jitter = sampleRate * 20 / 1000
    /// What can be in it: a second.
    static let capacity = sampleRate
    private static let bytesPerFrame = 4
    /// What is given out at once: 20 ms.
    package static let blockFrames = sampleRate * 20 / 1000

    /// Where a stream's next frame belongs. Kept by whoever reads the stream.
    package struct Place: Equatable, Sendable {
        var next: Int64?
        package init() {}
    }

    private var sums = [Int32](repeating: 0, count: Int(capacity) * 2)
    /// The first frame that was not given out; and the end of what has come in.
    private var start: Int64 = 0
    private var end: Int64 = 0
    private var block = [Int16](repeating: 0, count: Int(blockFrames) * 2)

    package init() {}

    /// Takes whole frames of one stream, of which the first is heard at a time. What is too late is lost.
    package mutating func add(_ samples: RawSpan, at time: MediaTime, _ place: inout Place) {
        let wanted = Self.frame(at: time)
        var next = wanted
        if let expected = place.next, abs(expected - wanted) <= Self.jitter { next = expected }
        let count = Int64(samples.byteCount / Self.bytesPerFrame)
        place.next = next + count
        // Nothing is in it: it begins here, but not before what was given out, unless the time was set back.
        if start == end {
            start = start - next > Self.capacity ? next : max(start, next)
            end = start
        }
        guard next + count <= start + Self.capacity else { return }
        for frame in max(next, start)..<max(next + count, start) {
            let (from, to) = (Int(frame - next) * Self.bytesPerFrame, Self.slot(frame))
            sums[to] += Int32(unsafe samples.unsafeLoadUnaligned(fromByteOffset: from, as: Int16.self))
            sums[to + 1] += Int32(unsafe samples.unsafeLoadUnaligned(fromByteOffset: from + 2, as: Int16.self))
        }
        end = max(end, next + count)
    }

    /// The next block, if it is complete or its time has come.
    ///
    /// - Parameter places: those of all streams.
    package mutating func take(
        now: MediaTime, _ places: [Place], _ body: (RawSpan, MediaTime) throws -> Void
    ) rethrows {
        while start < end, isComplete(places) || Self.time(of: start + Self.blockFrames) + Self.patience <= now {
            let time = Self.time(of: start)
            for frame in 0..<Self.blockFrames {
                let (from, to) = (Self.slot(start + frame), Int(frame) * 2)
                block[to] = Int16(clamping: sums[from])
                block[to + 1] = Int16(clamping: sums[from + 1])
                (sums[from], sums[from + 1]) = (0, 0)
            }
            start += Self.blockFrames
            end = max(end, start)
            try unsafe body(block.span.bytes, time)
        }
    }

    /// Whether no stream that has begun will add to the next block.
    private func isComplete(_ places: [Place]) -> Bool {
        start + Self.blockFrames <= end
            && places.allSatisfy { place in place.next.map { $0 >= start + Self.blockFrames } ?? true }
    }

    /// When `take` has something even if nothing more is added; nil if nothing is in it.
    package var due: MediaTime? { start < end ? Self.time(of: start + Self.blockFrames) + Self.patience : nil }

    private static func slot(_ frame: Int64) -> Int { Int(((frame % capacity) + capacity) % capacity) * 2 }
    private static func frame(at time: MediaTime) -> Int64 {
        let (seconds, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return seconds * sampleRate + rest * sampleRate / 1_000_000_000
    }
    private static func time(of frame: Int64) -> MediaTime {
        let (seconds, rest) = frame.quotientAndRemainder(dividingBy: sampleRate)
        return MediaTime(nanoseconds: seconds * 1_000_000_000 + rest * 1_000_000_000 / sampleRate)
    }
}
