import MediaCore
import SeededRandom
import Testing
import Timeline

/// Steps of the client's clock that are too small to be far from ours, against everything that looks like one.
@Suite struct StepTests {
    /// What a run came to. Distances are placement less capture time, in seconds: equal ones are in sync.
    private struct Outcome {
        /// Of samples taken after the incident, all tracks.
        var least = Double.infinity, most = -Double.infinity
        /// Of the samples before.
        var before = 0.0
        var spread: Double { most - least }
        var longestFrameGap = MediaTime.zero
        var refused = 0
        var counters = TimelineCounters()
    }

    /// Runs the client for 20 s of its clock; the incident is at second 10.
    private func run(_ client: SimulatedClient, from start: Double = 10) -> Outcome {
        var client = client
        var timeline = BroadcastTimeline()
        var outcome = Outcome()
        var lastFrame: MediaTime?
        client.run(&timeline, until: 20) { sample in
            let distance = sample.placement.time.secondsAsDouble - sample.captured
            if sample.track == .video {
                guard sample.placement.isAccepted else {
                    outcome.refused += 1
                    return
                }
                if let lastFrame {
                    outcome.longestFrameGap = max(outcome.longestFrameGap, sample.placement.time - lastFrame)
                }
                lastFrame = sample.placement.time
            }
            guard sample.captured >= start else {
                outcome.before = distance
                return
            }
            outcome.least = min(outcome.least, distance)
            outcome.most = max(outcome.most, distance)
        }
        outcome.counters = timeline.counters
        return outcome
    }

    private static let steps = [-3, -1.9, -1, -0.5, -0.25, -0.12, 0.2, 0.25, 0.5, 0.9, 1.5]

    /// Wherever it comes from, the jump is found with the first sample after it: nothing is lost but one frame.
    @Test(arguments: steps, [UInt64(1), 2, 3, 4, 5])
    func aStepOfAllTracksIsOneRebase(step: Double, seed: UInt64) {
        let outcome = run(SimulatedClient(offset: { $0 < 10 ? 1000 : 1000 + step }, random: SplitMix64(seed: seed)))
        #expect(outcome.counters.rebases == 1)
        #expect(step < 0 ? outcome.counters.jumpsBackward == 1 : outcome.counters.jumpsForward == 1)
        #expect(outcome.counters.followed == 2)
        #expect(outcome.refused <= 1)
        #expect(outcome.spread < 0.001)
        // The first track to see it is where it would have been without it, and so are the others.
        #expect(abs(outcome.most - outcome.before) < 0.001)
        #expect(outcome.longestFrameGap < .milliseconds(70))
    }

    /// Where jitter hides a step from one track and not from another, they still decide alike.
    @Test(arguments: [-0.12, -0.1, -0.08, 0.07, 0.08, 0.1, 0.12, 0.15], 1...UInt64(20))
    func smallStepsDoNotPartTheTracks(step: Double, seed: UInt64) {
        let outcome = run(SimulatedClient(offset: { $0 < 10 ? 1000 : 1000 + step }, random: SplitMix64(seed: seed)))
        #expect(outcome.refused <= 4)
        #expect(outcome.spread < 0.001)
    }

    /// The same where audio comes in bursts of half a second, in one message and in many.
    @Test(arguments: steps, [(0.5, nil), (0.02, 0.5)] as [(Double, Double?)])
    func aStepAmongBurstsIsOneRebase(step: Double, audio: (block: Double, burst: Double?)) {
        for seed in 1...UInt64(3) {
            var client = SimulatedClient(offset: { $0 < 10 ? 1000 : 1000 + step }, random: SplitMix64(seed: seed))
            (client.block, client.burst) = audio
            let outcome = run(client)
            #expect(outcome.counters.rebases == 1)
            #expect(outcome.refused <= 1)
            #expect(outcome.spread < 0.001)
            #expect(outcome.longestFrameGap < .milliseconds(70))
        }
    }

    @Test(arguments: steps, [true, false])
    func aStepOfTheOnlyTrackIsOneRebase(step: Double, isVideo: Bool) {
        for seed in 1...UInt64(3) {
            var client = SimulatedClient(offset: { $0 < 10 ? 1000 : 1000 + step }, random: SplitMix64(seed: seed))
            client.hasVideo = isVideo
            client.hasAudio = !isVideo
            let outcome = run(client)
            #expect(outcome.counters.rebases == 1)
            #expect(outcome.refused <= 1)
            #expect(abs(outcome.most - outcome.before) < 0.001)
            #expect(outcome.longestFrameGap < .milliseconds(70))
        }
    }

    @Test(arguments: [0.023, 0.5], 1...UInt64(5))
    func aRestartEachSecondLosesNothing(block: Double, seed: UInt64) {
        var client = SimulatedClient(offset: { -$0.rounded(.down) }, random: SplitMix64(seed: seed))
        client.block = block
        let outcome = run(client, from: 1)
        #expect(outcome.counters.jumpsBackward == 19)
        #expect(outcome.counters.rebases == 19)
        #expect(outcome.refused == 0)
        #expect(outcome.spread < 0.040)
        #expect(outcome.longestFrameGap < .milliseconds(70))
    }

    /// A client that was held up delivers late, and all at once, what it took meanwhile; its clock has not jumped.
    @Test(arguments: [0.1, 0.3, 0.5, 0.9], 1...UInt64(5))
    func aStalledClientHasNotJumped(length: Double, seed: UInt64) {
        for losesFrames in [false, true] {
            for (block, burst) in [(0.023, nil), (0.5, nil), (0.02, 0.5)] as [(Double, Double?)] {
                var client = SimulatedClient(random: SplitMix64(seed: seed))
                (client.block, client.burst) = (block, burst)
                client.stall = 10..<10 + length
                client.keptFrames = losesFrames ? 0 : .infinity
                let outcome = run(client, from: 0)
                #expect(outcome.counters.rebases == 0)
                #expect(outcome.refused == 0)
                #expect(outcome.spread < 0.000_001)
            }
        }
    }

    /// What a client leaves out is a gap that arrival follows.
    @Test(arguments: [0.1, 0.5, 3], 1...UInt64(5))
    func aGapHasNotJumped(length: Double, seed: UInt64) {
        for (block, burst) in [(0.023, nil), (0.5, nil), (0.02, 0.5)] as [(Double, Double?)] {
            var client = SimulatedClient(
                offset: { (10..<10 + length).contains($0) ? nil : 1000 }, random: SplitMix64(seed: seed))
            (client.block, client.burst) = (block, burst)
            let outcome = run(client, from: 0)
            #expect(outcome.counters.rebases == 0)
            #expect(outcome.spread < 0.000_001)
        }
    }

    /// All that is sent has been a fifth of a second late for long. Then frames are left out, and what follows comes in
    /// time, which looks like a step forward; but audio goes on evenly, and so the clock has not jumped.
    @Test(arguments: 1...UInt64(5))
    func audioThatGoesOnCallsVideoBack(seed: UInt64) {
        var timeline = BroadcastTimeline()
        var random = SplitMix64(seed: seed)
        var distances: [TimelineTrack: Double] = [:]
        var events: [TimelineEvent] = []
        for index in 0..<1500 {
            let captured = Double(index) / 100
            func place(_ track: TimelineTrack, late: Double) {
                let placement = timeline.place(
                    track, pts: MediaTime(nanoseconds: Int64(captured * 1e9)),
                    duration: track == .video ? .zero : .milliseconds(10),
                    arrival: MediaTime(nanoseconds: Int64((100 + captured + late) * 1e9)))
                if let event = placement.event { events.append(event) }
                distances[track] = placement.time.secondsAsDouble - captured
            }
            if index % 4 == 0, !(1000..<1020).contains(index) {
                place(.video, late: index < 1000 ? 0.2 + .random(in: 0...0.02, using: &random) : 0)
            }
            place(.audioApp, late: index < 1020 ? 0.21 : 0.01)
        }
        #expect(events.contains { if case .rebased = $0 { true } else { false } })
        #expect(timeline.counters.rebases == 1)
        #expect(abs(distances[.video]! - distances[.audioApp]!) < 0.000_001)
    }

    /// A step of 100 ms whose first block came 50 ms late, so that it cannot be told from a gap: the frame after it,
    /// which alone would be a jump, stays with it.
    @Test func aStepThatOneTrackHasLetStandStands() {
        var timeline = BroadcastTimeline()
        var distances: [TimelineTrack: MediaTime] = [:]
        var arrival = MediaTime.zero
        for step in 0..<Int64(600) {
            let captured = MediaTime.milliseconds(step * 20)
            let pts = captured + (step < 500 ? .zero : .milliseconds(100))
            for track in [TimelineTrack.audioApp, .video] where track == .audioApp || step % 4 == 3 {
                let late = track == .audioApp && step == 500 ? MediaTime.milliseconds(55) : .milliseconds(5)
                let duration = track == .video ? MediaTime.zero : .milliseconds(20)
                arrival = max(arrival, captured + duration + late)
                let placement = timeline.place(track, pts: pts, duration: duration, arrival: arrival)
                distances[track] = placement.time - captured
            }
        }
        #expect(distances[.audioApp] == distances[.video])
    }

    @Test func oneFrameOutOfOrderIsRefusedAndTwoAreAJump() {
        var timeline = BroadcastTimeline()
        var results: [Bool] = []
        for (index, pts) in [0, 33, 67, 133, 100, 167, 200, 150, 183, 217, 250].enumerated() {
            let placement = timeline.place(
                .video, pts: .milliseconds(Int64(pts)), duration: .zero, arrival: .milliseconds(Int64(index * 33)))
            results.append(placement.isAccepted)
        }
        #expect(results == [true, true, true, true, false, true, true, false, true, true, true])
        #expect(timeline.counters.jumpsBackward == 1)
        #expect(timeline.counters.refusedFrames == 2)
    }

    /// Steps of any size at any time: within each stretch between two of them all tracks stand together, and no step
    /// costs more than a few frames.
    @Test(arguments: 0..<40)
    func tracksStayTogetherWhateverTheClockDoes(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var moments: [Double] = []
        var offsets = [1000.0]
        var time = 2.0
        while time < 28 {
            moments.append(time)
            let size = Double.random(in: 0.08...3, using: &random)
            offsets.append(offsets.last! + (Bool.random(using: &random) ? size : -size))
            time += .random(in: 1.2...5, using: &random)
        }
        func stretch(_ captured: Double) -> Int { moments.count { $0 <= captured } }
        var client = SimulatedClient(offset: { [offsets] in offsets[stretch($0)] }, random: random)
        (client.block, client.burst) = [(0.023, nil), (0.010, nil), (0.5, nil), (0.02, 0.5)][Int(seed % 4)]
        var timeline = BroadcastTimeline()
        var bounds: [Int: (least: Double, most: Double)] = [:]
        var refused = 0
        client.run(&timeline, until: 30) { sample in
            guard sample.placement.isAccepted else {
                refused += 1
                return
            }
            let distance = sample.placement.time.secondsAsDouble - sample.captured
            let old = bounds[stretch(sample.captured)] ?? (distance, distance)
            bounds[stretch(sample.captured)] = (min(old.least, distance), max(old.most, distance))
        }
        for (number, bound) in bounds where bound.most - bound.least > 0.040 {
            Issue.record("stretch \(number) after \(offsets[number] - offsets[max(0, number - 1)]): \(bound)")
        }
        #expect(refused <= 3 * moments.count)
        #expect(timeline.counters.rebases <= moments.count)
    }
}
