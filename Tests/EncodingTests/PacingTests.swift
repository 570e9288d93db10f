import MediaCore
import SeededRandom
import Testing

@testable import Encoding

@Suite struct PacingTests {
    @Test func keyframesAreDueByTime() {
        var schedule = KeyframeSchedule(interval: .seconds(2), frameDuration: .milliseconds(40))
        var forced: [Int64] = []
        for time in [0, 40, 1_960, 1_985, 3_000, 3_984, 3_985, 9_000, 10_000, 11_000].map(Int64.init) {
            if schedule.mustForce(at: .milliseconds(time), requested: time == 3_000) { forced.append(time) }
        }
        #expect(forced == [0, 1_985, 3_000, 9_000, 11_000])
        schedule.noteKeyframe(at: .milliseconds(12_500))
        schedule.noteKeyframe(at: .milliseconds(12_000))
        let due = [14_400, 14_480].map { schedule.mustForce(at: .milliseconds($0), requested: false) }
        #expect(due == [false, true])
    }

    @Test func theBelievedTimeAddsUpToTheTimeThatPasses() {
        var random = SplitMix64(seed: 21)
        for _ in 0..<50 {
            let nominal = MediaTime.milliseconds(.random(in: 10...50, using: &random))
            var pacing = FramePacing(frameDuration: nominal, vbv: .seconds(2))
            var (time, believed) = (MediaTime.zero, MediaTime.zero)
            let slowest = Int64.random(in: 10...500, using: &random)
            for frame in 0..<500 {
                if frame > 0 {
                    time += .milliseconds(.random(in: 8...max(9, slowest), using: &random))
                    _ = pacing.advance(to: time)
                    believed += MediaTime(nanoseconds: pacing.believed)
                } else {
                    _ = pacing.advance(to: time)
                }
            }
            let error = (believed - time).secondsAsDouble / time.secondsAsDouble
            #expect(abs(error) < 0.02)
        }
    }

    @Test func anEvenRateIsToldOnce() {
        var pacing = FramePacing(frameDuration: .milliseconds(40), vbv: .seconds(1))
        let steady = (0..<100).map { pacing.advance(to: .milliseconds($0 * 40 + $0 % 2)) }
        #expect(!steady.contains(true))
        #expect(pacing.scaled(1_000_000) == 1_000_000)
        let slower = (0..<100).map { pacing.advance(to: .milliseconds(4_120 + $0 * 80)) }
        #expect(slower.filter { $0 }.count <= 3)
        #expect(pacing.scaled(1_000_000) == 2_000_000)
    }

    @Test func aPauseIsWorthHalfTheVBVAtMost() {
        var pacing = FramePacing(frameDuration: .milliseconds(40), vbv: .seconds(1))
        for time in [MediaTime.zero, .seconds(3600)] { _ = pacing.advance(to: time) }
        #expect(pacing.believed == 500_000_000)
        #expect(pacing.scaled(1_000_000) == 12_500_000)
        #expect(pacing.scaled(1_000_000_000) == 2_000_000_000)
    }

    @Test func pendingFramesForgetTheOldest() {
        var pending = PendingFrames()
        for index in 0..<400 {
            pending.insert(
                .init(
                    time: .milliseconds(Int64(index)), pts: .zero, arrival: .seconds(Int64(index)),
                    epoch: CurtainEpoch(raises: UInt32(index))))
        }
        #expect(pending[.milliseconds(399)]?.arrival == .seconds(399))
        #expect(pending[.milliseconds(80)]?.epoch == 80)
        #expect(pending[.milliseconds(79)] == nil)
    }

    @Test func samplesMapToTheTimeOfTheirBlock() {
        var times = AudioBlockTimes(sampleRate: 1000)
        #expect(times.time(of: 0) == nil)
        for index in 0..<20 {
            times.insert(
                firstSample: Int64(index) * 100, time: .seconds(Int64(index)),
                epoch: CurtainEpoch(raises: UInt32(index)))
        }
        #expect(times.time(of: 399) == nil)
        #expect(times.time(of: 400)?.time == .seconds(4))
        #expect(times.time(of: 450)?.time == .milliseconds(4_050))
        #expect(times.time(of: 450)?.epoch == 4)
        #expect(times.time(of: 2_100)?.time == .milliseconds(19_200))
    }

    @Test func theLogIsBoundedBySeconds() {
        var gate = MessageGate(messagesPerSecond: 2)
        var answers: [Int?] = []
        for time in [0, 10, 20, 30, 999, 1_000, 1_001, 1_002, 5_000] as [Int64] {
            answers.append(gate.admit(at: .milliseconds(time)))
        }
        #expect(answers == [0, 0, nil, nil, nil, 3, 0, nil, 1])
    }
}
