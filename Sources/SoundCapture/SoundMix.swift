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
    /// Times that differ by more move the stream by one frame for each piece: its clock is not that of the timeline.
    static let drift = sampleRate * 5 / 1000
    /// Shorter pieces do not move the stream: a frame more or less would be heard.
    private static let leastMoved = sampleRate * 10 / 1000
    /// What can be in it: a second.
    static let capacity = sampleRate
    private static let bytesPerFrame = 4
    /// What is given out at once, if there is as much: 20 ms.
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
        let frames = Int64(samples.byteCount / Self.bytesPerFrame)
        var (next, count) = (Self.frame(at: time), frames)
        if let expected = place.next, abs(expected - next) <= Self.jitter {
            if abs(expected - next) > Self.drift, frames >= Self.leastMoved { count += expected < next ? 1 : -1 }
            next = expected
        }
        place.next = next + count
        // Nothing is in it: it begins here, but not before what was given out, unless the time was set back.
        if start == end {
            start = start - next > Self.capacity ? next : max(start, next)
            end = start
        }
        guard next + count <= start + Self.capacity else { return }
        for frame in max(next, start)..<max(next + count, start) {
            let to = Self.slot(frame)
            for channel in 0..<2 {
                sums[to + channel] +=
                    count == frames
                    ? Self.sample(samples, frame - next, channel)
                    : Self.sample(samples, frame - next, of: count, from: frames, channel)
            }
        }
        end = max(end, next + count)
    }

    private static func sample(_ samples: borrowing RawSpan, _ frame: Int64, _ channel: Int) -> Int32 {
        let offset = Int(frame) * bytesPerFrame + channel * 2
        return Int32(unsafe samples.unsafeLoadUnaligned(fromByteOffset: offset, as: Int16.self))
    }

    /// A sample of a piece that is stretched from so many frames to another number: its ends stay where they are.
    private static func sample(
        _ samples: borrowing RawSpan, _ frame: Int64, of count: Int64, from frames: Int64, _ channel: Int
    ) -> Int32 {
        let (index, rest) = (frame * (frames - 1)).quotientAndRemainder(dividingBy: count - 1)
        let first = sample(samples, index, channel)
        guard rest > 0 else { return first }
        let step = sample(samples, index + 1, channel) - first
        return first + Int32(Int64(step) * rest / (count - 1))
    }

    /// The next block, if it is complete; or what of it has come, if its time has.
    ///
    /// - Parameter places: those of all streams.
    package mutating func take(
        now: MediaTime, _ places: [Place], _ body: (RawSpan, MediaTime) throws -> Void
    ) rethrows {
        while start < end, isComplete(places) || Self.time(of: start + Self.blockFrames) + Self.patience <= now {
            let time = Self.time(of: start)
            // What is missing at its end may still come, and then is not late.
            let frames = min(Self.blockFrames, end - start)
            for frame in 0..<frames {
                let (from, to) = (Self.slot(start + frame), Int(frame) * 2)
                block[to] = Int16(clamping: sums[from])
                block[to + 1] = Int16(clamping: sums[from + 1])
                (sums[from], sums[from + 1]) = (0, 0)
            }
            start += frames
            try unsafe body(block.span.bytes.extracting(first: Int(frames) * Self.bytesPerFrame), time)
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
