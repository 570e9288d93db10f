import MediaCore
import Testing

@testable import Pipeline

@Suite struct FramePacerTests {
    /// Runs frames at the given times through the pacer as the video thread does, and returns those that were encoded.
    private func encoded(_ times: [Double], rate: Int) -> [Double] {
        var pacer = FramePacer(FrameRate(rate))
        var result: [Double] = []
        var index = 0
        while index < times.count {
            var time = times[index]
            while case .wait(let wait) = pacer.decide(.microseconds(Int64(time * 1000))) {
                // A newer frame that arrives while this one is held replaces it.
                guard index + 1 < times.count, times[index + 1] < time + wait.secondsAsDouble * 1000 else { break }
                index += 1
                time = times[index]
            }
            pacer.encoded(.microseconds(Int64(time * 1000)))
            result.append(time)
            index += 1
        }
        return result
    }

    @Test func atTheCanvasRateEveryFramePasses() {
        let times: [Double] = (0..<300).map { index in
            let jitter = Double(index * 7919 % 11) - 5
            return Double(index) * 1000 / 30 + jitter
        }
        #expect(encoded(times, rate: 30).count == 300)
    }

    @Test func slightlyFasterSourcesPassWhole() {
        let times = (0..<300).map { Double($0) * 1000 / 31 }
        #expect(encoded(times, rate: 30).count == 300)
    }

    @Test(arguments: [60.0, 90, 120, 144]) func fasterSourcesAreThinnedOut(source: Double) {
        let times = (0..<Int(source * 10)).map { Double($0) * 1000 / source }
        let count = encoded(times, rate: 30).count
        #expect((285...320).contains(count), "\(count) frames in 10 s")
    }

    @Test func slowSourcesPassWhole() {
        let times = (0..<50).map { Double($0) * 200 }
        #expect(encoded(times, rate: 30) == times)
    }

    /// After a movement, the last frame stays visible on a still screen.
    @Test func theLastFrameOfABurstIsShown() {
        let burst = (0..<60).map { Double($0) * 1000 / 60 }
        #expect(encoded(burst, rate: 30).last == burst.last)
    }
}
