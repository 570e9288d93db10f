import MediaCore
import Testing

@testable import Adaptation

/// When the encoder's effort goes down because the processor is short, and when it comes back.
@Suite struct EffortControlTests {
    /// A control that is fed with a frame each 100 ms.
    struct Rig {
        var control: EffortControl
        var now = MediaTime.seconds(100)
        var superseded: UInt64 = 0
        var steps: [(at: MediaTime, EffortStep)] = []

        init(_ effort: VideoEffort = .high, isAdaptive: Bool = true) {
            control = EffortControl(effort, isAdaptive: isAdaptive)
        }

        /// - Parameters:
        ///   - load: of each 100 ms, what encoding took.
        ///   - losses: frames superseded in each.
        mutating func run(_ time: MediaTime, load: (VideoEffort) -> Double, losses: UInt64 = 0) {
            let end = now + time
            while now < end {
                now += .milliseconds(100)
                superseded += losses
                let took = MediaTime(nanoseconds: Int64(load(control.effort) * 100_000_000))
                let total = superseded
                if let step = control.note(took: took, now: now, superseded: { total }) { steps.append((now, step)) }
            }
        }

        mutating func run(_ seconds: Int64, load: Double, losses: UInt64 = 0) {
            run(.seconds(seconds), load: { _ in load }, losses: losses)
        }
    }

    @Test func itGoesDownBeforeFramesAreLost() throws {
        var rig = Rig()
        rig.run(10, load: 0.8)
        #expect(rig.steps.isEmpty)
        rig.run(3, load: 0.95)
        let step = try #require(rig.steps.first).1
        #expect(step == EffortStep(effort: .normal, busyPercent: 95, superseded: 0, isLower: true))
        rig.run(10, load: 1)
        #expect(rig.control.effort == .low && rig.steps.count == 2)
    }

    /// What is missing is more than one step gives: frames are not lost for another second.
    @Test func itGoesDownAsFarAsTheLostFramesSay() throws {
        var rig = Rig()
        rig.run(2, load: 1, losses: 1)
        let step = try #require(rig.steps.first).1
        #expect(step == EffortStep(effort: .low, busyPercent: 100, superseded: 10, isLower: true))
        // One frame in eleven is within a step.
        rig = Rig()
        rig.run(1, load: 1)
        rig.superseded += 1
        rig.run(1, load: 1)
        #expect(rig.steps.map(\.1.effort) == [.normal])
    }

    /// Two steps down after one rise are one rise that failed: the next try comes after twice the time, not four times.
    @Test func aRiseFailsOnce() throws {
        var rig = Rig()
        rig.run(3, load: 0.95)
        #expect(rig.control.effort == .low)
        rig.run(.seconds(30), load: { $0 == .high ? 0.95 : 0.2 })
        rig.run(3, load: 0.95)
        #expect(rig.control.effort == .low)
        let begin = rig.now
        rig.run(60, load: 0.2)
        let back = try #require(rig.steps.first { $0.at > begin && !$0.1.isLower })
        #expect(back.at - begin <= EffortControl.shortestCalm * 2 + .seconds(2))
    }

    /// Frames that a burst superseded are no reason to make the picture worse.
    @Test func lossesCountOnlyWhereTheProcessorIsBusy() {
        var rig = Rig()
        rig.run(10, load: 0.4, losses: 1)
        #expect(rig.steps.isEmpty)
        rig.run(2, load: 0.75, losses: 1)
        #expect(rig.control.effort == .normal)
    }

    @Test func itComesBackWhenTheBetterOneWouldFit() throws {
        var rig = Rig()
        rig.run(2, load: 0.95)
        #expect(rig.control.effort == .normal)
        // high would take 0.80 / 0.66 of it.
        rig.run(60, load: 0.57)
        #expect(rig.control.effort == .normal)
        let begin = rig.now
        rig.run(20, load: 0.3)
        let back = try #require(rig.steps.last)
        #expect(back.1.effort == .high && !back.1.isLower && back.1.busyPercent == 30)
        #expect(back.at - begin >= EffortControl.shortestCalm && back.at - begin <= .seconds(13))
    }

    /// A client that sends more than the canvas takes has frames superseded all the time.
    @Test func itComesBackAlthoughFramesAreSuperseded() {
        var rig = Rig()
        rig.run(2, load: 0.95)
        #expect(rig.control.effort == .normal)
        rig.run(40, load: 0.3, losses: 2)
        #expect(rig.control.effort == .high)
    }

    /// A machine on which the better effort never lasts is tried more and more rarely.
    @Test func triesThatFailBecomeRare() {
        var rig = Rig(.normal)
        // The prediction is wrong here: normal takes all there is.
        rig.run(.seconds(3600), load: { $0 == .normal ? 1 : 0.3 })
        let raises = rig.steps.filter { !$0.1.isLower }.map(\.at)
        let gaps = zip(raises, raises.dropFirst()).map { $1 - $0 }
        #expect(raises.count > 10 && raises.count < 25)
        #expect(gaps.prefix(3).allSatisfy { $0 < .seconds(200) })
        #expect(gaps.suffix(3).allSatisfy { $0 >= EffortControl.longestCalm })
    }

    @Test func aStillScreenIsNoBusyOne() {
        var rig = Rig(.normal)
        for _ in 0..<100 {
            rig.now += .milliseconds(250)
            _ = rig.control.note(took: .milliseconds(40), now: rig.now, superseded: { 0 })
        }
        #expect(rig.control.effort == .normal)
    }

    @Test func itCanBeFixed() {
        var rig = Rig(isAdaptive: false)
        rig.run(60, load: 1, losses: 3)
        #expect(rig.control.effort == .high && rig.steps.isEmpty)
    }
}
