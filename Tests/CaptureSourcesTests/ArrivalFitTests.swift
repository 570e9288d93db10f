import MediaCore
import SeededRandom
import Testing

@testable import CaptureSources

/// Promise: the times of a live pipe's samples are those of their capture, whatever delays them on their way.
@Suite struct ArrivalFitTests {
    private static let start = MediaTime.seconds(100)
    private static let interval = MediaTime(nanoseconds: 33_333_333)

    /// A live source of 30 pictures a second, and what the fit makes of it.
    private struct Source {
        var fit: ArrivalFit
        /// Samples that were given out, and those that were captured.
        var (index, captured) = (Int64(0), Int64(0))
        var arrival = ArrivalFitTests.start
        var random = SplitMix64(seed: 5)
        var jitter = 0.004
        /// Seconds of the source's clock for a second of ours, less one.
        var drift = 0.0
        /// By how much the given time of each sample is later than its capture, in ms.
        var errors: [Double] = []
        var times: [MediaTime] = []

        init(origin: MediaTime = ArrivalFitTests.start) {
            fit = ArrivalFit(origin: origin, slew: .milliseconds(2))
        }

        /// - Parameters:
        ///   - seconds: of the source.
        ///   - delay: of a sample that is captured at a time since the start, beside the jitter.
        ///   - period: between captures, as a multiple of the interval.
        mutating func run(_ seconds: Double, period: Double = 1, delay: (Double) -> Double = { _ in 0 }) {
            let end = captureTime + seconds
            while captureTime < end {
                let now = captureTime
                let late = delay(now) + .random(in: 0...jitter, using: &random)
                arrival = max(arrival, ArrivalFitTests.start + MediaTime(seconds: now + late))
                let time = ArrivalFitTests.interval * index
                let given = fit.note(time, captured: arrival) + time
                errors.append((given - ArrivalFitTests.start).secondsAsDouble * 1000 - now * 1000)
                times.append(given)
                index += 1
                offset += (period - 1) * ArrivalFitTests.interval.secondsAsDouble
            }
        }

        /// The source captures nothing for a while, and its numbers go on.
        mutating func lose(_ seconds: Double) { offset += seconds }

        private var offset = 0.0
        private var captureTime: Double {
            Double(index) * ArrivalFitTests.interval.secondsAsDouble * (1 - drift) + offset
        }

        func worst(from sample: Int = 0) -> Double { errors[sample...].map(abs).max() ?? .infinity }
        var alwaysRises: Bool { zip(times, times.dropFirst()).allSatisfy { $0 < $1 } }
    }

    @Test(arguments: [0.002, 0.015, 0.030]) func jitter(jitter: Double) {
        var source = Source()
        source.jitter = jitter
        source.run(60)
        #expect(source.worst() <= jitter * 1000)
        #expect(source.alwaysRises && !source.fit.isUnsteady)
    }

    /// A machine that does other things delays everything for a while, up to just under a second.
    @Test(arguments: [0.1, 0.5, 0.9]) func aBacklogThatDrains(length: Double) {
        var source = Source()
        source.run(30) { now in
            let phase = now.truncatingRemainder(dividingBy: 10)
            return phase > 5 && phase < 5 + length ? 5 + length - phase : 0
        }
        #expect(source.worst() <= 4)
        #expect(source.alwaysRises && !source.fit.isUnsteady)
    }

    /// The program began while it was busy: the first second comes late, and so does what is known from it.
    @Test(arguments: [0.069, 0.102, 0.4]) func aStartThatWasDelayed(delay: Double) {
        var source = Source(origin: Self.start + MediaTime(seconds: delay))
        source.run(1) { _ in delay }
        source.run(20)
        // 2 ms a picture.
        #expect(source.worst(from: 30 + Int(delay * 500) + 2) <= 4)
        #expect(source.alwaysRises && !source.fit.isUnsteady)
    }

    /// The source has lost samples, and does not say so: what comes later seems to be late for good.
    @Test(arguments: [0.033, 0.32, 0.6, 5]) func aBacklogThatDoesNotDrain(lost: Double) {
        var source = Source()
        source.run(10)
        let before = source.errors.count
        source.lose(lost)
        source.run(10)
        // After five windows.
        #expect(source.worst(from: before + 40) <= 8)
        #expect(source.worst() <= lost * 1000 + 4)
        #expect(source.alwaysRises && !source.fit.isUnsteady)
    }

    /// It gives fewer pictures than it said.
    @Test(arguments: [1.5, 1.1, 3]) func aSourceThatSlowsDown(period: Double) {
        var source = Source()
        source.run(5)
        source.run(20, period: period)
        #expect(source.worst(from: 150 + Int(60 / period)) <= 10)
        let fast = source.errors.count
        source.run(10)
        #expect(source.worst(from: fast) <= 30 && source.worst(from: fast + 60) <= 10)
        #expect(source.alwaysRises && !source.fit.isUnsteady)
    }

    /// One in a hundred is missing: too little for a source that is slow.
    @Test func aSourceThatIsALittleSlow() {
        var source = Source()
        source.run(60, period: 1.01)
        #expect(source.worst() <= 20)
    }

    /// The writer is stopped, and goes on where it was, or has all of the time in its buffer.
    @Test(arguments: [3.0, 60], [true, false]) func aPause(length: Double, keepsAll: Bool) {
        var source = Source()
        source.run(5)
        let before = source.errors.count
        if keepsAll {
            source.run(length) { max(0, 5 + length - $0) }
            source.run(10)
            #expect(source.worst() <= 4)
        } else {
            source.lose(length)
            source.run(10)
            #expect(source.worst(from: before + 40) <= 8)
        }
        #expect(source.alwaysRises && !source.fit.isUnsteady)
    }

    @Test(arguments: [100e-6, -100e-6]) func anHourOfDrift(drift: Double) {
        var source = Source()
        source.drift = drift
        source.run(3600)
        #expect(source.worst() <= 5)
        #expect(source.alwaysRises)
    }

    /// Blocks of audio of 2 s: all of them but the last run of each come late.
    @Test func largeBlocks() {
        var fit = ArrivalFit(origin: Self.start, slew: .milliseconds(2))
        for run in 0..<Int64(5000) {
            let time = MediaTime.milliseconds(run * 20)
            let arrival: MediaTime = Self.start + .milliseconds((run / 100 + 1) * 2000)
            let origin = fit.note(time, captured: arrival - .milliseconds(20))
            #expect(origin == Self.start)
        }
        #expect(!fit.isUnsteady)
    }

    /// One program that reads a screen when its sound lets it.
    @Test func burstsThatDiffer() {
        var source = Source()
        source.run(4) { ($0 * 2).truncatingRemainder(dividingBy: 2) < 1 ? 0.4 : 0 }
        #expect(source.fit.isUnsteady && source.fit.largestFall > .milliseconds(390))
    }
}

/// Promise: a sample has the time at which it arrived, and not that at which it was read.
@Suite struct WaitingArrivalsTests {
    private static func at(_ milliseconds: Int64) -> MediaTime { .seconds(100) + .milliseconds(milliseconds) }

    @Test func whatIsReadLate() {
        var waiting = WaitingArrivals()
        for block in 0..<Int64(10) { waiting.note(100, at: Self.at(block * 10)) }
        #expect(waiting.lastTaken == nil)
        waiting.take(100)
        #expect(waiting.lastTaken == Self.at(0))
        waiting.take(1)
        #expect(waiting.lastTaken == Self.at(10))
        waiting.take(399)
        #expect(waiting.lastTaken == Self.at(40))
        waiting.take(500)
        #expect(waiting.lastTaken == Self.at(90))
        waiting.note(50, at: Self.at(500))
        #expect(waiting.lastTaken == Self.at(90))
        waiting.take(50)
        #expect(waiting.lastTaken == Self.at(500))
    }

    /// What waits takes no more memory than two seconds of arrivals.
    @Test func aReaderThatDoesNotCome() {
        var waiting = WaitingArrivals()
        for block in 0..<Int64(100_000) { waiting.note(1, at: Self.at(block * 10)) }
        waiting.take(1)
        #expect(waiting.lastTaken == Self.at(0))
        waiting.take(99_999)
        #expect(waiting.lastTaken == Self.at(999_990))
        for block in 0..<Int64(10_000) {
            waiting.note(1, at: Self.at(2_000_000 + block * 10))
            waiting.take(1)
            #expect(waiting.lastTaken == Self.at(2_000_000 + block * 10))
        }
    }
}
