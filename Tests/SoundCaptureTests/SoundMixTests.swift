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

    /// All that has come by a time: the value of each millisecond's first frame, and when it is heard.
    private static func take(_ mix: inout SoundMix, now: MediaTime) -> [(MediaTime, Int16)] {
        var result: [(MediaTime, Int16)] = []
        mix.take(now: now) { samples, time in
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
