package import MediaCore

/// Mixes what several programs play, each in a stream of its own. Pure.
///
/// Frames are stereo and 16-bit. A frame's place on the timeline is its number since time zero, at 48 kHz. Frames are
/// given out in order, once each stream that has begun has delivered them, or all streams had time to.
package struct SoundMix {
    package static let sampleRate = Int64(48_000)
    /// How long the slowest stream is waited for.
    package static let patience = MediaTime.milliseconds(60)
    /// A smaller difference between a stream's times and its sample count is jitter.
    static let jitter = sampleRate * 20 / 1000
    /// A larger difference moves the stream by one frame for each piece: its clock is not that of the timeline.
    static let drift = sampleRate * 5 / 1000
    /// Shorter pieces do not move the stream, as one frame more or less would be heard.
    private static let leastMoved = sampleRate * 10 / 1000
    /// The size of the mix, in frames: a second.
    static let capacity = sampleRate
    private static let bytesPerFrame = 4
    /// The most frames that are given out at once: 20 ms.
    package static let blockFrames = sampleRate * 20 / 1000

    /// Where a stream's next frame belongs. Kept by whoever reads the stream.
    package struct Place: Equatable, Sendable {
        var next: Int64?
        package init() {}
    }

    private var sums = [Int32](repeating: 0, count: Int(capacity) * 2)
    /// The first frame that was not given out, and the end of the frames that have come.
    private var start: Int64 = 0
    private var end: Int64 = 0
    private var block = [Int16](repeating: 0, count: Int(blockFrames) * 2)

    package init() {}

    /// Adds whole frames of one stream; the first one is heard at `time`. Frames that come too late are lost.
    package mutating func add(_ samples: RawSpan, at time: MediaTime, _ place: inout Place) {
        let frames = Int64(samples.byteCount / Self.bytesPerFrame)
        var (next, count) = (Self.frame(at: time), frames)
        if let expected = place.next, abs(expected - next) <= Self.jitter {
            if abs(expected - next) > Self.drift, frames >= Self.leastMoved { count += expected < next ? 1 : -1 }
            next = expected
        }
        place.next = next + count
        // The mix is empty, so it begins here: not before what was given out, unless the stream's time was set back.
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

    /// A sample of a piece that is stretched from `frames` to `count` frames. Its first and last frame stay.
    private static func sample(
        _ samples: borrowing RawSpan, _ frame: Int64, of count: Int64, from frames: Int64, _ channel: Int
    ) -> Int32 {
        let (index, rest) = (frame * (frames - 1)).quotientAndRemainder(dividingBy: count - 1)
        let first = sample(samples, index, channel)
        guard rest > 0 else { return first }
        let step = sample(samples, index + 1, channel) - first
        return first + Int32(Int64(step) * rest / (count - 1))
    }

    /// Gives out each block that is complete. After `patience`, gives out what has come of an incomplete one.
    ///
    /// - Parameter places: those of all streams.
    package mutating func take(
        now: MediaTime, _ places: [Place], _ body: (RawSpan, MediaTime) throws -> Void
    ) rethrows {
        while start < end, isComplete(places) || Self.time(of: start + Self.blockFrames) + Self.patience <= now {
            let time = Self.time(of: start)
            // The missing end of a block may still come, and is not late then.
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

    /// When `take` gives out something even if nothing more is added; nil if the mix is empty.
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
