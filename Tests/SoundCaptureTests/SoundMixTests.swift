import MediaCore
import SoundCapture
import Testing

/// Promise: what several programs play is added up at the right places, whole and once.
@Suite struct SoundMixTests {
    private static let second = MediaTime.seconds(100)

    private static func add(
        _ mix: inout SoundMix, _ value: Int16, milliseconds: Int64, at time: MediaTime, _ place: inout SoundMix.Place
    ) {
        let samples = [Int16](repeating: value, count: Int(milliseconds) * 96)
        mix.add(samples.span.bytes, at: time, &place)
    }

    /// A stream of which nothing is waited for.
    private static let nobody: [SoundMix.Place] = {
        var (mix, place) = (SoundMix(), SoundMix.Place())
        add(&mix, 0, milliseconds: 1, at: .zero, &place)
        return [place]
    }()

    /// All that has come by a time: the value of each millisecond's first frame, and when it is heard. Without places,
    /// one stream is late.
    private static func take(
        _ mix: inout SoundMix, now: MediaTime, _ places: [SoundMix.Place] = nobody
    ) -> [(MediaTime, Int16)] {
        var result: [(MediaTime, Int16)] = []
        mix.take(now: now, places) { samples, time in
            for millisecond in 0..<samples.byteCount / 192 {
                let value = samples.unsafeLoad(fromByteOffset: millisecond * 192, as: Int16.self)
                result.append((time + .milliseconds(Int64(millisecond)), value))
            }
        }
        return result
    }

    @Test func twoProgramsAreAdded() {
        var (mix, a, b) = (SoundMix(), SoundMix.Place(), SoundMix.Place())
        Self.add(&mix, 100, milliseconds: 40, at: Self.second, &a)
        Self.add(&mix, 7, milliseconds: 20, at: Self.second + .milliseconds(20), &b)
        #expect(Self.take(&mix, now: Self.second + .milliseconds(79)).isEmpty)
        let taken = Self.take(&mix, now: Self.second + .milliseconds(40) + SoundMix.patience)
        #expect(taken.map(\.1) == [Int16](repeating: 100, count: 20) + [Int16](repeating: 107, count: 20))
        #expect(taken.first?.0 == Self.second && taken.last?.0 == Self.second + .milliseconds(39))
        #expect(mix.due == nil)
    }

    /// What each stream has is not waited for: neither for late streams, nor for one that has not begun.
    @Test func completeBlocksComeAtOnce() {
        var (mix, a, b) = (SoundMix(), SoundMix.Place(), SoundMix.Place())
        Self.add(&mix, 100, milliseconds: 80, at: Self.second, &a)
        // Times before all of it was heard.
        #expect(Self.take(&mix, now: Self.second, [a, b]).count == 80)
        #expect(mix.due == nil)
        Self.add(&mix, 100, milliseconds: 60, at: Self.second + .milliseconds(80), &a)
        Self.add(&mix, 7, milliseconds: 30, at: Self.second + .milliseconds(80), &b)
        #expect(Self.take(&mix, now: Self.second, [a, b]).map(\.1) == [Int16](repeating: 107, count: 20))
        #expect(Self.take(&mix, now: Self.second, [a, b]).isEmpty)
        // The second one is late: what it has is added when the time has come.
        let late = Self.second + .milliseconds(120) + SoundMix.patience
        #expect(mix.due == late)
        let taken = Self.take(&mix, now: late, [a, b])
        #expect(taken.map(\.1) == [Int16](repeating: 107, count: 10) + [Int16](repeating: 100, count: 10))
    }

    /// Bug: a block whose end had not come was filled with silence, and what came of it was lost.
    @Test func latePiecesAreWhole() {
        var (mix, place) = (SoundMix(), SoundMix.Place())
        var taken: [(MediaTime, Int16)] = []
        // Pieces of 50 ms that come 100 ms after their ends.
        for piece in Int64(0)..<8 {
            let begin = Self.second + .milliseconds(piece * 50)
            Self.add(&mix, Int16(piece + 1), milliseconds: 50, at: begin, &place)
            taken += Self.take(&mix, now: begin + .milliseconds(150), [place])
        }
        #expect(taken.map(\.1) == (1...8).flatMap { [Int16](repeating: $0, count: 50) })
        #expect(taken.indices.allSatisfy { taken[$0].0 == Self.second + .milliseconds(Int64($0)) })
    }

    /// Bug: the clock of a card that is 100 ppm off made a hole or an overlap of 20 ms every 200 s.
    @Test(arguments: [Int64(-100), 100]) func aClockThatDrifts(partsPerMillion: Int64) {
        var (mix, place) = (SoundMix(), SoundMix.Place())
        var (next, holes, worst) = (MediaTime?.none, 0, MediaTime.zero)
        // A rising tone of 40 ms in each piece, for ten minutes.
        let piece = (0..<1_920).flatMap { [Int16($0), Int16(-$0)] }
        for number in Int64(0)..<15_000 {
            let heard = Self.second + .microseconds(number * 40_000 + number * 40_000 * partsPerMillion / 1_000_000)
            mix.add(piece.span.bytes, at: heard, &place)
            mix.take(now: heard, [place]) { samples, time in
                if let next, (time - next).magnitude > .microseconds(30) { holes += 1 }
                next = time + MediaTime(sample: Int64(samples.byteCount / 4), rate: 48_000)
                for index in stride(from: 4, to: samples.byteCount, by: 4) {
                    let (before, value) = (
                        samples.unsafeLoadUnaligned(fromByteOffset: index - 4, as: Int16.self),
                        samples.unsafeLoadUnaligned(fromByteOffset: index, as: Int16.self))
                    // From one piece to the next, it begins anew.
                    if value != 0, !(0...2).contains(value - before) { holes += 1 }
                }
            }
            if let next { worst = max(worst, (next - heard - .milliseconds(40)).magnitude) }
        }
        #expect(holes == 0)
        // What has not been given out is less than a block.
        #expect(worst < .milliseconds(26), "\(worst.milliseconds) ms")
    }

    /// What was given out does not come again, when another stream begins with earlier times.
    @Test func timesDoNotGoBack() {
        var (mix, a, b) = (SoundMix(), SoundMix.Place(), SoundMix.Place())
        Self.add(&mix, 100, milliseconds: 80, at: Self.second, &a)
        #expect(Self.take(&mix, now: Self.second, [a, b]).count == 80)
        Self.add(&mix, 7, milliseconds: 80, at: Self.second + .milliseconds(30), &b)
        #expect(Self.take(&mix, now: Self.second, [a, b]).isEmpty)
        Self.add(&mix, 100, milliseconds: 80, at: Self.second + .milliseconds(80), &a)
        let taken = Self.take(&mix, now: Self.second, [a, b])
        #expect(taken.first?.0 == Self.second + .milliseconds(80))
        #expect(taken.map(\.1) == [Int16](repeating: 107, count: 20))
        // A clock that was set back by more than a second.
        _ = Self.take(&mix, now: Self.second + .seconds(1))
        var c = SoundMix.Place()
        Self.add(&mix, 9, milliseconds: 20, at: Self.second - .seconds(10), &c)
        #expect(Self.take(&mix, now: Self.second, [c]).first?.0 == Self.second - .seconds(10))
    }

    @Test func theLoudestIsCut() {
        var (mix, a, b) = (SoundMix(), SoundMix.Place(), SoundMix.Place())
        Self.add(&mix, 30_000, milliseconds: 20, at: Self.second, &a)
        Self.add(&mix, 30_000, milliseconds: 20, at: Self.second, &b)
        #expect(Self.take(&mix, now: Self.second + .seconds(1)).allSatisfy { $0.1 == .max })
    }

    /// Times that jitter by some milliseconds leave no gap and no overlap.
    @Test func jitterIsNotHeard() {
        var (mix, place) = (SoundMix(), SoundMix.Place())
        for block in 0..<20 {
            let time = Self.second + .milliseconds(Int64(block) * 20 + [0, 3, -4, 9][block % 4])
            Self.add(&mix, 50, milliseconds: 20, at: time, &place)
        }
        let taken = Self.take(&mix, now: Self.second + .seconds(1))
        #expect(taken.count == 400 && taken.allSatisfy { $0.1 == 50 })
    }

    /// After a silence, sound is where its time says; what comes too late is lost, and what is absurdly early.
    @Test func silenceAndLateness() {
        var (mix, a, b) = (SoundMix(), SoundMix.Place(), SoundMix.Place())
        Self.add(&mix, 50, milliseconds: 20, at: Self.second, &a)
        #expect(Self.take(&mix, now: Self.second + .seconds(1)).count == 20)
        Self.add(&mix, 60, milliseconds: 20, at: Self.second + .seconds(3), &a)
        Self.add(&mix, 70, milliseconds: 20, at: Self.second + .seconds(2), &b)
        Self.add(&mix, 80, milliseconds: 20, at: Self.second + .seconds(9), &b)
        let taken = Self.take(&mix, now: Self.second + .seconds(10))
        #expect(taken.count == 20 && taken.allSatisfy { $0.1 == 60 })
        #expect(taken.first?.0 == Self.second + .seconds(3))
    }
}
