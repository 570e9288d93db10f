import MediaCore
import TestSupport
import Testing

/// Promise: what `scripts/faults` calls late is what a fault delays, and not a single frame of a busy machine.
@Suite struct LatenessTests {
    /// A frame each 100 ms from 0 to 10 s; the fault is over at 2 s.
    private func lateness(_ delay: (Int64) -> Int64) -> Lateness {
        let frames = (0..<100).map { index in
            let time = Int64(index) * 100
            return ArrivalLog.Arrival(
                time: .milliseconds(5_000 + time + delay(time)), timestamp: .milliseconds(time))
        }
        return Lateness(
            [ArrivalLog.Segment(path: "", video: frames)], linkBack: .seconds(7), ended: .seconds(20))
    }

    @Test func nothingIsLate() {
        let lateness = lateness { _ in 0 }
        #expect(lateness.recovery == .zero)
        #expect(lateness.backlog == .zero)
        #expect(lateness.laterLateFrames == 0)
        #expect(lateness.laterFrames == 69)
    }

    /// One timely frame, nothing for a second, and what waited meanwhile: that is no calm.
    @Test func aBacklogAfterAGap() {
        let lateness = lateness { $0 > 2000 && $0 < 4000 ? 4000 - $0 : 0 }
        #expect(lateness.recovery == .zero)
        #expect(lateness.backlog == .seconds(2))
        #expect(lateness.laterLateFrames == 0)
    }

    /// Frames of 1 to 3 s arrive together at 3.5 s.
    @Test func aBacklog() {
        let lateness = lateness { $0 < 1000 || $0 > 3000 ? 0 : 3500 - $0 }
        #expect(lateness.recovery == .milliseconds(1100))
        #expect(lateness.backlog == .milliseconds(400))
        #expect(lateness.laterLateFrames == 0)
    }

    /// Frames stay late without a second's calm: every second one of 4 s.
    @Test func aBacklogThatDoesNotEnd() {
        let lateness = lateness { $0 >= 2000 && $0 < 6000 && $0 % 200 == 0 ? 350 : 0 }
        #expect(lateness.backlog == .milliseconds(4050))
        #expect(lateness.laterLateFrames == 0)
    }

    /// One frame in the calm, and a second fault, which is more than a twentieth of the frames.
    @Test(arguments: [1, 10]) func lateAgain(frames: Int64) {
        let lateness = lateness { $0 >= 6000 && $0 < 6000 + frames * 100 ? 301 : 0 }
        #expect(lateness.backlog == .zero)
        #expect(lateness.laterLateness == .milliseconds(frames == 1 ? 0 : 600))
        #expect(lateness.laterLateFrames == Int(frames))
        #expect((lateness.laterLateFrames * 20 <= lateness.laterFrames) == (frames == 1))
    }
}
