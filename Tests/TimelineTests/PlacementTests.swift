import MediaCore
import SeededRandom
import Testing
import Timeline

@Suite struct PlacementTests {
    @Test(arguments: [0, 1, -1, Int64.min, .max, -86_400_000_000_000, 1 << 62])
    func firstSampleIsTimeZero(pts: Int64) {
        var timeline = BroadcastTimeline()
        #expect(!timeline.hasStarted)
        let first = timeline.place(.video, pts: MediaTime(nanoseconds: pts), duration: .zero, arrival: .seconds(100))
        #expect(first == Placement(time: .zero, event: .started, isAccepted: true))
        #expect(timeline.clockOffset == .seconds(100))
        // The PTS may even wrap around.
        let second = timeline.place(
            .video, pts: MediaTime(nanoseconds: pts &+ 33_000_000), duration: .zero, arrival: .milliseconds(100_033))
        #expect(second == Placement(time: .milliseconds(33), event: nil, isAccepted: true))
        #expect(timeline.counters.rebases == 0)
    }

    @Test func tracksShareTheOffset() {
        var timeline = BroadcastTimeline()
        _ = timeline.place(.video, pts: .milliseconds(5000), duration: .zero, arrival: .seconds(1))
        // Began 15 ms before the video, ends after it: to be cut, not refused.
        let app = timeline.place(
            .audioApp, pts: .milliseconds(4985), duration: .milliseconds(23), arrival: .milliseconds(1012))
        #expect(app == Placement(time: .milliseconds(-15), event: nil, isAccepted: true))
        let old = timeline.place(
            .audioMicrophone, pts: .milliseconds(4970), duration: .milliseconds(23), arrival: .milliseconds(1013))
        #expect(old == Placement(time: .milliseconds(-30), event: .beforeStart, isAccepted: false))
        let microphone = timeline.place(
            .audioMicrophone, pts: .milliseconds(4993), duration: .milliseconds(23), arrival: .milliseconds(1030))
        #expect(microphone == Placement(time: .milliseconds(-7), event: nil, isAccepted: true))
        #expect(timeline.counters.beforeStart == 1)
    }

    /// Bug: sound that was captured before it was heard began the broadcast. The pictures of a screen that stood still
    /// from then on were from before it, and were refused: viewers saw nothing until the screen changed.
    @Test func videoBeforeTheFirstAudioIsSeenFromTheStart() {
        var timeline = BroadcastTimeline()
        _ = timeline.place(.audioApp, pts: .seconds(5), duration: .milliseconds(23), arrival: .seconds(1))
        let table: [(pts: Int64, time: Int64?)] = [
            (4940, 0), (4973, 1), (4973, nil), (5001, 2), (4990, nil), (5034, 34),
        ]
        for (index, row) in table.enumerated() {
            let arrival = MediaTime.milliseconds(1001 + Int64(index) * 20)
            let frame = timeline.place(.video, pts: .milliseconds(row.pts), duration: .zero, arrival: arrival)
            #expect(frame.isAccepted == (row.time != nil))
            if let time = row.time { #expect(frame.time == .milliseconds(time)) }
        }
        #expect(timeline.counters.beforeStart == 0)
    }

    /// A client with any number of such pictures: none is further ahead than others may be.
    @Test func manyPicturesOfBeforeTheStart() {
        let settings = TimelineSettings()
        var timeline = BroadcastTimeline(settings: settings)
        _ = timeline.place(.audioApp, pts: .seconds(5), duration: .milliseconds(23), arrival: .seconds(1))
        var last = MediaTime.zero
        for number in Int64(0)..<5_000 {
            let frame = timeline.place(
                .video, pts: .seconds(4) + MediaTime(nanoseconds: number), duration: .zero,
                arrival: .seconds(1) + .microseconds(number))
            if frame.isAccepted { last = max(last, frame.time) }
        }
        #expect(last > .milliseconds(900) && last <= settings.aheadTolerance + .milliseconds(30))
    }

    @Test func videoTimesRiseStrictly() {
        var timeline = BroadcastTimeline()
        let table: [(pts: Int64, isAccepted: Bool)] = [
            (0, true), (33, true), (33, false), (20, false), (34, true), (34, false), (100, true), (67, false),
            (101, true),
        ]
        for (index, row) in table.enumerated() {
            let placement = timeline.place(
                .video, pts: .milliseconds(row.pts), duration: .zero, arrival: .milliseconds(Int64(index * 12)))
            #expect(placement.isAccepted == row.isAccepted)
            #expect(placement.event == (row.isAccepted ? (index == 0 ? .started : nil) : .notRising))
        }
        #expect(timeline.counters.refusedFrames == 4)
        #expect(timeline.counters.samples == 9)
    }

    /// The documented limit, from both sides.
    @Test(arguments: [
        (60, false), (-60, false), (61, true), (-61, true), (400, true), (-1999, true), (86_400_000, true),
    ])
    func jumpsBeginBeyondTheTolerance(jump: Int64, isJump: Bool) {
        var timeline = BroadcastTimeline()
        for block in 0...Int64(100) {
            let time = MediaTime.milliseconds(block * 100)
            _ = timeline.place(.audioApp, pts: time, duration: .milliseconds(100), arrival: time + .milliseconds(100))
        }
        let placement = timeline.place(
            .audioApp, pts: .milliseconds(10_100 + jump), duration: .milliseconds(100), arrival: .milliseconds(10_200))
        #expect(timeline.counters.rebases == (isJump ? 1 : 0))
        #expect(placement.isAccepted)
        #expect(placement.time == .milliseconds(isJump ? 10_100 : 10_100 + jump))
        #expect(placement.event == (isJump ? .rebased(by: .milliseconds(-jump)) : nil))
        #expect(timeline.counters.jumpsForward == (isJump && jump > 0 ? 1 : 0))
        #expect(timeline.counters.jumpsBackward == (isJump && jump < 0 ? 1 : 0))
    }

    /// Anything at all: nothing traps, frames rise, and what is accepted stays near the clock.
    @Test(arguments: 0..<20)
    func anythingIsSafe(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let settings = TimelineSettings()
        var timeline = BroadcastTimeline(settings: settings)
        var arrival = MediaTime(nanoseconds: .random(in: 0...(1 << 50), using: &random))
        var pts = Int64.random(in: .min ... .max, using: &random)
        var lastFrame: MediaTime?
        var lastClock = MediaTime.zero
        for _ in 0..<2000 {
            arrival += .microseconds(.random(in: 0...40_000, using: &random))
            switch Int.random(in: 0..<20, using: &random) {
            case 0: pts = .random(in: .min ... .max, using: &random)
            case 1: pts &+= .random(in: -3_000_000_000...3_000_000_000, using: &random)
            case 2: pts = [Int64.min, .max, 0, -1].randomElement(using: &random)!
            default: pts &+= .random(in: 0...40_000_000, using: &random)
            }
            let track = TimelineTrack.allCases.randomElement(using: &random)!
            let duration: Int64 =
                track == .video ? 0 : [0, 23_000_000, 512_000_000, -5, .max, .min].randomElement(using: &random)!
            let placement = timeline.place(
                track, pts: MediaTime(nanoseconds: pts), duration: MediaTime(nanoseconds: duration), arrival: arrival)
            let clock = arrival - timeline.clockOffset
            #expect(clock >= lastClock)
            lastClock = clock
            guard placement.isAccepted else { continue }
            #expect(placement.time - clock <= settings.aheadTolerance + .milliseconds(20))
            #expect(clock - placement.time <= settings.behindTolerance + .milliseconds(120))
            if track == .video {
                if let lastFrame { #expect(placement.time > lastFrame) }
                lastFrame = placement.time
            }
        }
        #expect(timeline.counters.rebases > 0)
    }
}
