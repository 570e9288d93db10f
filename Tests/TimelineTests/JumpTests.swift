import MediaCore
import SeededRandom
import Testing
import Timeline

@Suite struct JumpTests {
    /// Runs 20 s with an offset that changes at second 10, and returns the tracks' distances after it and the timeline.
    private func run(
        pause: Double = 0, jump: Double, seed: UInt64 = 7, after: Double = 0
    ) -> (spread: Double, mean: Double, timeline: BroadcastTimeline, frames: [MediaTime]) {
        var timeline = BroadcastTimeline()
        var client = SimulatedClient(
            offset: { $0 < 10 ? 1000 : ($0 < 10 + pause ? nil : 1000 + jump) }, random: SplitMix64(seed: seed))
        var distances: [Double] = []
        var frames: [MediaTime] = []
        client.run(&timeline, until: 20 + pause) { sample in
            if sample.track == .video, sample.placement.isAccepted { frames.append(sample.placement.time) }
            if sample.captured >= 10 + pause + after {
                distances.append(sample.placement.time.secondsAsDouble - sample.captured)
            }
        }
        let spread = distances.max()! - distances.min()!
        return (spread, distances.reduce(0, +) / Double(distances.count), timeline, frames)
    }

    /// A jump that all tracks make at their own next sample is one rebase, and they stand to each other as before.
    @Test(arguments: [1.5, 3, 90, 1e7, -2.5, -5, -40, -1e7], [UInt64(1), 2, 3])
    func aJumpOfAllTracksIsOneRebase(jump: Double, seed: UInt64) {
        let (spread, mean, timeline, frames) = run(jump: jump, seed: seed)
        #expect(timeline.counters.rebases == 1)
        #expect(timeline.counters.jumpsForward == (jump > 0 ? 1 : 0))
        #expect(timeline.counters.followed == 2)
        #expect(timeline.counters.refusedFrames <= 2)
        #expect(spread < 0.000_001)
        // Time went on from where it was: no hole and no step back beyond the jitter.
        #expect(abs(mean) < 0.060)
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $0 < $1 && ($1 - $0) < .milliseconds(150) })
    }

    @Test func aPauseOnAClockThatGoesOnIsNoRebase() {
        let (spread, mean, timeline, _) = run(pause: 300, jump: 0)
        #expect(timeline.counters.rebases == 0)
        #expect(spread < 0.000_001)
        #expect(abs(mean) < 0.000_001)
    }

    /// Its first samples could be a backlog. They are none, as after a second they are as late as before.
    @Test(arguments: [3.0, 60, 600])
    func aPauseOnAClockThatStopsIsOneRebase(pause: Double) {
        let (spread, mean, timeline, frames) = run(pause: pause, jump: -pause, after: 1.2)
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $0 < $1 })
        #expect(timeline.counters.rebases == 1)
        #expect(timeline.counters.jumpsBackward == 1)
        #expect(spread < 0.000_001)
        #expect(abs(mean) < 0.060)
    }

    /// Too short to be a jump, too long to stay late by: a second later the timeline has moved on, with all its tracks.
    @Test(arguments: [0.7, 1.2, 1.8])
    func aShortPauseOnAClockThatStopsIsCaughtUp(pause: Double) {
        let (spread, mean, timeline, _) = run(pause: pause, jump: -pause, after: 3)
        #expect(timeline.counters.rebases == 1)
        #expect(timeline.counters.latenessRebases == 1)
        #expect(spread < 0.000_001)
        #expect(abs(mean) < 0.060)
    }

    /// One sample with a wild PTS: the next one returns to where the track was, exactly.
    @Test(arguments: [TimelineTrack.video, .audioApp, .audioMicrophone], [1e6, -1e6, 1.5, -2.5])
    func aWildSampleChangesNothingAfterIt(track: TimelineTrack, jump: Double) {
        var timeline = BroadcastTimeline()
        var client = SimulatedClient()
        var wasWild = false
        var distances: [Double] = []
        client.run(&timeline, until: 10) { sample in
            distances.append(sample.placement.time.secondsAsDouble - sample.captured)
        }
        // The client goes on by hand from here.
        let base = 10.0
        for index in 0..<200 {
            let captured = base + Double(index) * 0.01
            let current = TimelineTrack.allCases[index % 3]
            let isWild = !wasWild && index > 50 && current == track
            wasWild = wasWild || isWild
            let pts = MediaTime(nanoseconds: Int64((captured + 1000 + (isWild ? jump : 0)) * 1e9))
            let placement = timeline.place(
                current, pts: pts, duration: .zero,
                arrival: MediaTime(nanoseconds: Int64((captured + 77_777.020) * 1e9)))
            if isWild {
                guard case .rebased = placement.event else {
                    Issue.record("a wild sample was taken for a good one")
                    return
                }
            } else {
                distances.append(placement.time.secondsAsDouble - captured)
            }
        }
        #expect(timeline.counters.rebases == 1)
        #expect(distances.max()! - distances.min()! < 0.000_001)
    }

    /// Audio and video stamped by different clocks: the one gap between them is one rebase, not one for each sample.
    @Test func tracksWithClocksOfTheirOwnDoNotFight() {
        var timeline = BroadcastTimeline()
        var accepted = 0
        for index in 0..<3000 {
            let time = MediaTime.milliseconds(Int64(index) * 10)
            let track = TimelineTrack.allCases[index % 3]
            let origin: MediaTime = [.zero, .seconds(5000), .seconds(-77)][index % 3]
            let placement = timeline.place(track, pts: origin + time, duration: .zero, arrival: time)
            accepted += placement.isAccepted ? 1 : 0
            #expect((placement.time - time).magnitude < .milliseconds(1))
        }
        #expect(timeline.counters.rebases == 2)
        #expect(accepted == 3000)
    }

    /// A file that a client plays in a loop: every turn is one jump back.
    @Test func aLoopIsARebaseForEachTurn() {
        var timeline = BroadcastTimeline()
        var client = SimulatedClient(offset: { 1000 - ($0 / 7).rounded(.down) * 7 })
        var last: MediaTime?
        client.run(&timeline, until: 70) { sample in
            guard sample.track == .video, sample.placement.isAccepted else { return }
            if let last { #expect(sample.placement.time - last < .milliseconds(150)) }
            last = sample.placement.time
        }
        #expect(timeline.counters.rebases == 9)
        #expect(timeline.counters.jumpsBackward == 9)
        #expect(last! > .milliseconds(69_800))
    }
}
