import MediaCore
import Testing

@testable import Timeline

@Suite struct DriftTests {
    /// An hour with a client whose clock is off by 500 ppm, 1.8 s in sum: no rebase, a rigid mapping, and a broadcast
    /// clock that follows.
    @Test(arguments: [500e-6, -500e-6])
    func anHourOfDriftIsFollowedWithoutRebase(drift: Double) {
        var timeline = BroadcastTimeline()
        var client = SimulatedClient(drift: drift)
        var origin: Double?
        var worstMapping = 0.0, latest = -1.0, earliest = 1.0
        var lastClock = MediaTime.zero
        var isMonotonic = true
        client.run(&timeline, until: 3600) { sample in
            let shift = sample.placement.time.secondsAsDouble - sample.captured
            origin = origin ?? shift
            worstMapping = max(worstMapping, abs(shift - origin!))
            // The client's clock when the sample arrived is where the broadcast clock should stand.
            let clientClock = (sample.arrival.secondsAsDouble - 77_777) * (1 + drift) + origin!
            let lag = clientClock - sample.clock.secondsAsDouble
            if sample.captured > 30 {
                latest = max(latest, lag)
                earliest = min(earliest, lag)
            }
            isMonotonic = isMonotonic && sample.clock >= lastClock
            lastClock = sample.clock
        }
        #expect(timeline.counters.rebases == 0)
        #expect(timeline.counters.refusedFrames == 0)
        #expect(worstMapping < 0.000_001)
        #expect(isMonotonic)
        // Behind by the transport's 10 ms and what the filter takes to see a clock that slows down.
        #expect(earliest > 0.004)
        #expect(latest < 0.030)
        #expect(abs(timeline.counters.largestDrift.secondsAsDouble - 1.8) < 0.1)
    }

    @Test func aClockFollowsAtItsSlewAndNoFaster() {
        var timeline = BroadcastTimeline()
        _ = timeline.place(.video, pts: .zero, duration: .zero, arrival: .seconds(10))
        // The first sample was 300 ms late; all others are in time.
        var offset = timeline.clockOffset
        for frame in 1...Int64(900) {
            let time = MediaTime.milliseconds(frame * 33)
            _ = timeline.place(.video, pts: time + .milliseconds(300), duration: .zero, arrival: .seconds(10) + time)
            let moved = (timeline.clockOffset - offset).magnitude
            #expect(moved <= .microseconds(330))
            offset = timeline.clockOffset
        }
        #expect(abs((.seconds(10) - offset).nanoseconds - 297_000_000) < 1_000_000)
        #expect(timeline.counters.rebases == 0)
    }

    @Test func aLongSilenceMovesTheClockByOneStepOnly() {
        var timeline = BroadcastTimeline()
        for frame in 0..<Int64(100) {
            let time = MediaTime.milliseconds(frame * 33)
            _ = timeline.place(.video, pts: time, duration: .zero, arrival: time)
        }
        let before = timeline.clockOffset
        // Ten minutes later the client's clock is 300 ms behind.
        _ = timeline.place(.video, pts: .seconds(600), duration: .zero, arrival: .milliseconds(600_300))
        #expect(timeline.clockOffset - before == .milliseconds(10))
        #expect(timeline.counters.rebases == 0)
    }

    /// A burst that is stamped when it is delivered must not push the clock half a second ahead of the video.
    @Test func burstsStampedAtDeliveryDoNotRunAhead() {
        var timeline = BroadcastTimeline()
        for step in 0..<Int64(3000) {
            let time = MediaTime.milliseconds(step * 32)
            _ = timeline.place(.video, pts: time, duration: .zero, arrival: time)
            if step % 16 == 0 {
                _ = timeline.place(.audioApp, pts: time, duration: .milliseconds(512), arrival: time)
            }
        }
        #expect(.zero - timeline.clockOffset <= .milliseconds(100))
        #expect(timeline.counters.rebases == 0)
    }

    @Test func filterKeepsTheLeastOfRecentWindows() {
        var filter = LatencyFilter()
        #expect(filter.minimum() == nil)
        #expect(filter.advance(to: 0) == nil)
        for index in 0..<12 { filter.add(100 + Int64(index)) }
        #expect(filter.minimum() == 100)
        #expect(filter.advance(to: 999_999_999) == nil)
        filter.add(110)
        #expect(filter.advance(to: 1_000_000_000) == 100)
        filter.add(500)
        // One sample is too few to speak for its second.
        #expect(filter.advance(to: 2_000_000_000) == nil)
        #expect(filter.minimum() == 100)
        for second in 3...Int64(8) {
            filter.add(500)
            _ = filter.advance(to: second * 1_000_000_000)
        }
        #expect(filter.minimum() == 500)
        _ = filter.advance(to: 100_000_000_000)
        #expect(filter.minimum() == nil)
    }

    /// What becomes less late within a second is a backlog. What comes in its first half only is before a stall.
    @Test(arguments: [(90, 90, 90), (90, 41, 41), (90, 39, nil), (90, nil, nil), (nil, 90, nil)] as [Halves])
    func aWindowSpeaksForItsSecondIfItIsEven(early: Int64?, late: Int64?, spoken: Int64?) {
        var filter = LatencyFilter()
        _ = filter.advance(to: 0)
        for _ in 0..<20 { if let early { filter.add(early * 1_000_000) } }
        _ = filter.advance(to: 500_000_001)
        for _ in 0..<20 { if let late { filter.add(late * 1_000_000) } }
        let minimum = filter.advance(to: 1_000_000_000)
        #expect(minimum == spoken.map { $0 * 1_000_000 })
    }

    private typealias Halves = (Int64?, Int64?, Int64?)
}
