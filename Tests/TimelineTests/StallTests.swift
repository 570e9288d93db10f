import MediaCore
import SeededRandom
import Testing

@testable import Timeline

/// Promise: whoever stands still, the client or the daemon, and for however long, sound and pictures are as far apart
/// afterwards as before.
@Suite struct StallTests {
    private static let begin = 10.0
    private static let lengths = [1.9, 2, 2.1, 2.5, 4, 7.5, 9, 20, 100]

    /// Placement less capture time of all samples from `start` on, for each track, in seconds.
    private struct Outcome {
        var distances: [TimelineTrack: ClosedRange<Double>] = [:]
        var timeline = BroadcastTimeline()
        var spread: Double {
            (distances.values.map(\.upperBound).max() ?? .infinity) - (distances.values.map(\.lowerBound).min() ?? 0)
        }
    }

    private func run(_ client: SimulatedClient, from start: Double, until end: Double) -> Outcome {
        var client = client
        var outcome = Outcome()
        var lastFrame = MediaTime.seconds(-1)
        client.run(&outcome.timeline, until: end) { sample in
            let time = sample.placement.time
            #expect(sample.clock - time <= .seconds(2) + .milliseconds(120))
            if sample.track == .video, sample.placement.isAccepted {
                #expect(time > lastFrame)
                lastFrame = time
            }
            guard sample.captured >= start else { return }
            let distance = time.secondsAsDouble - sample.captured
            let old = outcome.distances[sample.track] ?? distance...distance
            outcome.distances[sample.track] = min(old.lowerBound, distance)...max(old.upperBound, distance)
        }
        return outcome
    }

    /// Buffers of the client and of the socket keep different parts of what was taken meanwhile.
    @Test(arguments: lengths, [UInt64(1), 2, 3])
    func nothingMoves(length: Double, seed: UInt64) {
        for (frames, audio) in [(0, 0), (0.1, 0.5), (0.1, 2.2), (0.1, 4), (0.1, .infinity), (.infinity, .infinity)] {
            for (block, burst) in [(0.02, nil), (0.023, nil), (0.5, nil), (0.02, 0.5)] as [(Double, Double?)] {
                var client = SimulatedClient(random: SplitMix64(seed: seed))
                (client.block, client.burst) = (block, burst)
                (client.keptFrames, client.keptAudio) = (frames, audio)
                client.stall = Self.begin..<Self.begin + length
                let outcome = run(client, from: Self.begin + length, until: Self.begin + length + 10)
                #expect(outcome.timeline.counters.rebases == 0, "frames \(frames), audio \(audio), \(block)")
                #expect(outcome.spread < 0.000_001, "frames \(frames), audio \(audio), \(block)")
            }
        }
    }

    /// A machine that swaps gets through its backlog slowly.
    @Test(arguments: [2.1, 4, 10], [1.3, 2, 5])
    func aSlowBacklogMovesNothing(length: Double, speed: Double) {
        for (frames, audio) in [(0, Double.infinity), (0.1, .infinity), (.infinity, .infinity)] {
            var client = SimulatedClient()
            client.stall = Self.begin..<Self.begin + length
            (client.keptFrames, client.keptAudio, client.backlogSpeed) = (frames, audio, speed)
            let end = Self.begin + length * speed / (speed - 1)
            let outcome = run(client, from: end, until: end + 10)
            #expect(outcome.spread < 0.000_001, "frames \(frames), \(outcome.distances)")
        }
    }

    /// Two stalls, of which the second begins before the first one's backlog is through.
    @Test func aStallInABacklog() {
        for later in [0.05, 0.3, 0.9] {
            var outcome = Outcome()
            var random = SplitMix64(seed: 7)
            var last = 0.0
            for index in 0..<3000 {
                let captured = Double(index) / 100
                let backlog = 13.0 + (captured - 10) / 5
                var arrival = captured < 10 ? captured : max(captured, backlog)
                if arrival >= 13 + later { arrival = max(arrival, 16 + later + (captured - 10 - later * 5) / 20) }
                last = max(last, arrival + .random(in: 0...0.02, using: &random))
                let track: TimelineTrack = index % 4 == 0 ? .video : .audioApp
                let placement = outcome.timeline.place(
                    track, pts: MediaTime(nanoseconds: Int64(captured * 1e9)),
                    duration: track == .video ? .zero : .milliseconds(10),
                    arrival: MediaTime(nanoseconds: Int64((last + 100) * 1e9)))
                guard captured > 20 else { continue }
                let distance = placement.time.secondsAsDouble - captured
                let old = outcome.distances[track] ?? distance...distance
                outcome.distances[track] = min(old.lowerBound, distance)...max(old.upperBound, distance)
            }
            #expect(outcome.spread < 0.000_001, "\(later): \(outcome.distances)")
            #expect(outcome.timeline.counters.rebases == 0)
        }
    }

    /// The client's clock jumps after a stall, or while nobody looks: one rebase for all tracks.
    @Test(arguments: [-40.0, -3, -0.5, 0.5, 3, 90], [2.1, 4, 9])
    func aJumpIsStillOne(jump: Double, length: Double) {
        // A clock that is set back in a stall by less than a second says the same as samples that are late.
        for after in jump == -0.5 ? [0.5, 3.0] : [0, 0.5, 3.0] {
            var client = SimulatedClient()
            client.stall = Self.begin..<Self.begin + length
            (client.keptFrames, client.keptAudio) = after == 0 ? (0, 0) : (0.1, 2)
            let moment = Self.begin + length + after
            client.offset = { $0 < moment ? 1000 : 1000 + jump }
            let outcome = run(client, from: moment + 2, until: moment + 12)
            #expect(outcome.timeline.counters.rebases == 1, "\(after) s after the stall")
            #expect(outcome.spread < 0.000_001, "\(after) s after the stall: \(outcome.distances)")
        }
    }

    /// A screen that changes rarely: the last frame before the stall is shown, late, and the next in time.
    @Test func aStillScreen() {
        var timeline = BroadcastTimeline()
        for frame in 0..<Int64(5) {
            _ = timeline.place(.video, pts: .seconds(frame), duration: .zero, arrival: .seconds(frame))
        }
        let late = timeline.place(.video, pts: .seconds(5), duration: .zero, arrival: .seconds(35))
        #expect(late.isAccepted && late.time == .seconds(33))
        let next = timeline.place(.video, pts: .seconds(36), duration: .zero, arrival: .seconds(36))
        #expect(next.isAccepted && next.time == .seconds(36))
        #expect(timeline.counters.rebases == 0)
    }

    /// The same on a clock that stood still: late once, and in time from the second frame on.
    @Test func aStillScreenOnAClockThatStops() {
        var timeline = BroadcastTimeline()
        for frame in 0..<Int64(5) {
            _ = timeline.place(.video, pts: .seconds(frame), duration: .zero, arrival: .seconds(frame))
        }
        let times = (5..<Int64(8)).map {
            timeline.place(.video, pts: .seconds($0), duration: .zero, arrival: .seconds($0 + 30)).time
        }
        #expect(times == [.seconds(33), .seconds(36), .seconds(37)])
        #expect(timeline.counters.jumpsBackward == 1)
    }

    private static func arriving(_ samples: [(lateness: Int64, arrival: Int64)]) -> ([Bool], Backlog) {
        var backlog = Backlog()
        let results = samples.map {
            backlog.isArriving(lateness: $0.lateness * 1_000_000, arrival: $0.arrival * 1_000_000)
        }
        return (results, backlog)
    }

    /// Ten blocks in 10 ms; then nothing gains any more.
    @Test func aBacklogGains() {
        let blocks = (0..<Int64(10)).map { (lateness: 3000 - $0 * 20, arrival: $0) }
        let (results, backlog) = Self.arriving(blocks + [(2900, 900), (2900, 1100)])
        #expect(results == Array(repeating: true, count: 11) + [false])
        #expect(backlog.leastLateness == 2_820_000_000)
    }

    /// What was held up again has not stood still.
    @Test func aBacklogThatIsHeldUp() {
        let (results, _) = Self.arriving([(3000, 0), (5000, 2000), (5000, 2900), (5000, 3000)])
        #expect(results == [true, true, true, false])
    }

    /// A silence clears what the clock follows, and not what a sample is compared with.
    @Test func theFilterRemembersWhatWasBeforeASilence() {
        var filter = LatencyFilter()
        _ = filter.advance(to: 0)
        for _ in 0..<3 { filter.add(100) }
        #expect(filter.known == 100)
        _ = filter.advance(to: 60_000_000_000)
        #expect(filter.minimum() == nil && filter.known == 100)
        for second in 61...Int64(67) {
            filter.add(500)
            _ = filter.advance(to: second * 1_000_000_000)
            #expect(filter.minimum() == 500 && filter.known == 100)
        }
        filter.add(500)
        _ = filter.advance(to: 68_000_000_000)
        #expect(filter.known == 500)
    }
}
