import MediaCore
import Testing

@testable import Timeline

/// A broadcast that begins before its client has sent anything.
@Suite struct SilentStartTests {
    @Test func theFirstSampleHasItsPlaceAtTheTimeAtWhichItComes() {
        var timeline = BroadcastTimeline()
        let first = timeline.place(
            .video, pts: .seconds(1_000), duration: .zero, arrival: .milliseconds(7_300), running: .seconds(5))
        #expect(first.isAccepted && first.time == .milliseconds(2_300) && first.event == .started)
        #expect(timeline.clockOffset == .seconds(5))
        // What comes after it goes on from there, and the offset is not heeded again.
        let next = timeline.place(
            .video, pts: .milliseconds(1_000_033), duration: .zero, arrival: .milliseconds(7_333), running: .seconds(9))
        #expect(next.time == .milliseconds(2_333))
    }

    @Test func withoutOneItBeginsAtZero() {
        var timeline = BroadcastTimeline()
        let first = timeline.place(.video, pts: .seconds(-3), duration: .zero, arrival: .seconds(7))
        #expect(first.time == .zero && timeline.clockOffset == .seconds(7))
    }
}
