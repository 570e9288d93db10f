import MediaCore
import SeededRandom
import Testing

@testable import Publishing

@Suite struct BackoffTests {
    @Test func growsToItsLimitAndIsHalfChance() {
        var backoff = Backoff(ReconnectPolicy())
        var random = SplitMix64(seed: 3)
        var whole = 0.5
        for _ in 0..<200 {
            let delay = backoff.next(using: &random)!.secondsAsDouble
            #expect(delay >= whole / 2 - 1e-6 && delay <= whole + 1e-6)
            whole = min(30, whole * 1.6)
        }
        #expect(backoff.attempts == 200)
        backoff.reset()
        #expect(backoff.next(using: &random)! <= .milliseconds(500))
    }

    @Test func endsWhereAttemptsAreCounted() {
        var policy = ReconnectPolicy()
        policy.maximumAttempts = 2
        var backoff = Backoff(policy)
        var random = SplitMix64(seed: 3)
        #expect(backoff.next(using: &random) != nil)
        #expect(backoff.next(using: &random) != nil)
        #expect(backoff.next(using: &random) == nil)
        var never = Backoff(.never)
        #expect(never.next(using: &random) == nil)
    }
}

@Suite struct AcknowledgementWatchTests {
    private func seconds(_ value: Double) -> MediaTime { MediaTime(seconds: value) }

    @Test func aServerThatAcknowledgesIsNeverOverdue() {
        var watch = AcknowledgementWatch(window: 1_000)
        for step in 1...500 {
            let delivered = UInt64(step * 100)
            let overdue = watch.note(
                delivered: delivered, acknowledged: delivered / 1_000 * 1_000, at: seconds(Double(step)))
            #expect(overdue == .zero)
        }
    }

    @Test func aServerThatNeverAcknowledgesIsNotBlamed() {
        var watch = AcknowledgementWatch(window: 1_000)
        for step in 1...500 {
            #expect(watch.note(delivered: UInt64(step * 10_000), acknowledged: nil, at: seconds(Double(step))) == .zero)
        }
    }

    /// Bug: a stopped server counted as live as long as its kernel took bytes, for 12 s and more.
    @Test func aServerThatStopsAcknowledgingIsOverdueFromThreeSteps() {
        var watch = AcknowledgementWatch(window: 1_000)
        _ = watch.note(delivered: 1_000, acknowledged: 1_000, at: seconds(1))
        _ = watch.note(delivered: 2_000, acknowledged: 2_000, at: seconds(2))
        #expect(watch.note(delivered: 4_000, acknowledged: 2_000, at: seconds(4)) == .zero)
        #expect(watch.note(delivered: 4_100, acknowledged: 2_000, at: seconds(5)) == .zero, "from here on")
        #expect(watch.note(delivered: 9_000, acknowledged: 2_000, at: seconds(8)) == seconds(3))
        #expect(watch.note(delivered: 9_000, acknowledged: 9_000, at: seconds(9)) == .zero)
    }

    /// Bug: a path that lost everything after a server's first acknowledgement counted as live for ever.
    @Test func oneAcknowledgementOfAWholeWindowIsEnough() {
        var watch = AcknowledgementWatch(window: 1_000)
        _ = watch.note(delivered: 1_100, acknowledged: 1_000, at: seconds(1))
        _ = watch.note(delivered: 5_000, acknowledged: 1_000, at: seconds(2))
        #expect(watch.note(delivered: 9_000, acknowledged: 1_000, at: seconds(5)) == seconds(3))
        var courteous = AcknowledgementWatch(window: 1_000)
        _ = courteous.note(delivered: 1_100, acknowledged: 300, at: seconds(1))
        _ = courteous.note(delivered: 5_000, acknowledged: 300, at: seconds(2))
        #expect(courteous.note(delivered: 9_000, acknowledged: 300, at: seconds(5)) == .zero)
    }

    /// Bug: a server that acknowledges every 2.5 MB, whatever window it gets, was disconnected again and again.
    @Test func aFirstStepThatIsLargeIsItsStep() {
        var watch = AcknowledgementWatch(window: 1_000)
        for step in 1...400 {
            let delivered = UInt64(step * 1_000)
            let acknowledged = delivered / 50_000 * 50_000
            let overdue = watch.note(
                delivered: delivered, acknowledged: acknowledged == 0 ? nil : acknowledged, at: seconds(Double(step)))
            #expect(overdue == .zero)
        }
    }

    /// Bug: a server that acknowledges a whole window only once was disconnected again and again, too.
    @Test func whatWasLearntOutlivesTheConnection() {
        var watch = AcknowledgementWatch(window: 1_000)
        _ = watch.note(delivered: 1_100, acknowledged: 1_000, at: seconds(1))
        _ = watch.note(delivered: 5_000, acknowledged: 1_000, at: seconds(2))
        #expect(watch.note(delivered: 9_000, acknowledged: 1_000, at: seconds(12)) > .zero)
        watch.reconnect(wasOverdue: true)
        _ = watch.note(delivered: 1_100, acknowledged: 1_000, at: seconds(13))
        #expect(watch.note(delivered: 9_000, acknowledged: 1_000, at: seconds(33)) == .zero)
        // A server that continues and then stops is detected as before.
        watch.reconnect(wasOverdue: false)
        for step in 1...3 {
            _ = watch.note(delivered: UInt64(step * 1_000), acknowledged: UInt64(step * 1_000), at: seconds(34))
        }
        _ = watch.note(delivered: 9_000, acknowledged: 3_000, at: seconds(35))
        #expect(watch.note(delivered: 9_000, acknowledged: 3_000, at: seconds(40)) == seconds(5))
    }

    /// Servers have their own step: SRS uses half of the window, others always 2.5 MB.
    @Test func aServersOwnStepIsLearnt() {
        var watch = AcknowledgementWatch(window: 1_000)
        _ = watch.note(delivered: 50_000, acknowledged: 50_000, at: seconds(1))
        _ = watch.note(delivered: 100_000, acknowledged: 100_000, at: seconds(2))
        #expect(watch.note(delivered: 190_000, acknowledged: 100_000, at: seconds(3)) == .zero)
    }
}

@Suite struct LinkMeterTests {
    @Test func aSocketThatStandsStillIsLateByThat() {
        var meter = LinkMeter(at: .zero)
        for step in 1...50 {
            meter.note(sent: UInt64(step) * 10_000, outstanding: 0, at: .milliseconds(Int64(step) * 100))
        }
        #expect(meter.socketLag(at: .seconds(5)) == .zero)
        for step in 51...70 {
            meter.note(
                sent: UInt64(step) * 10_000, outstanding: (step - 50) * 10_000, at: .milliseconds(Int64(step) * 100))
        }
        #expect(meter.stalled(at: .seconds(7)) == .seconds(2))
        // Bytes that were noticed at 5.1 s were sent after 5.0 s.
        #expect(meter.socketLag(at: .seconds(7)) == .milliseconds(1900))
        // However long the stall lasts, the oldest byte stays the oldest.
        for step in 71...300 {
            meter.note(
                sent: UInt64(step) * 10_000, outstanding: (step - 50) * 10_000, at: .milliseconds(Int64(step) * 100))
        }
        #expect(meter.socketLag(at: .seconds(30)) >= .seconds(24))
    }

    @Test func whatIsOutstandingIsAsLateAsItIsOld() {
        var meter = LinkMeter(at: .zero)
        // 100 kB per second, of which half a second's bytes are always outstanding.
        for step in 1...20 {
            meter.note(
                sent: UInt64(step) * 10_000, outstanding: min(step, 5) * 10_000, at: .milliseconds(Int64(step) * 100))
        }
        #expect(meter.socketLag(at: .seconds(2)) == .milliseconds(400))
        // The path alone takes that long.
        meter.note(sent: 210_000, outstanding: 50_000, roundTrip: .milliseconds(500), at: .milliseconds(2100))
        #expect(meter.socketLag(at: .milliseconds(2100)) == .zero)
    }

    /// Bug: the time in which the server read nothing counted twice, in the socket and in the log.
    @Test func aStallIsNotCountedTwice() {
        var meter = LinkMeter(at: .zero)
        meter.note(sent: 10_000, outstanding: 0, at: .seconds(1))
        var report = LinkReport(time: .zero)
        for step in 1...90 {
            // The socket is full after a second; the rest waits in the log.
            let now = MediaTime.seconds(1) + .milliseconds(Int64(step) * 100)
            let (sent, backlog) = (min(step, 10) * 10_000, MediaTime.milliseconds(Int64(max(0, step - 10)) * 100))
            meter.note(sent: UInt64(10_000 + sent), outstanding: sent, backlog: backlog, at: now)
            report.noteLateness(meter.lateness(behind: backlog, at: now), at: now)
        }
        #expect(report.lateness == .milliseconds(8_900))
        #expect(report.congestedSince == .milliseconds(1_700))
        // The old bytes arrive. The next ones have waited in the log.
        meter.note(sent: 110_000, outstanding: 0, backlog: .seconds(8), at: .milliseconds(10_100))
        #expect(meter.lateness(behind: .seconds(8), at: .milliseconds(10_100)) == .seconds(8))
        // They stay that late as long as they are on their way.
        meter.note(sent: 120_000, outstanding: 10_000, backlog: .seconds(8), at: .milliseconds(10_200))
        #expect(meter.lateness(behind: .zero, at: .milliseconds(10_300)) == .milliseconds(8_100))
        report.noteLateness(.zero, at: .seconds(11))
        #expect(report.congestedSince == nil)
    }

    /// Reported once for each congestion that lasts.
    @Test func congestionIsSaidWhenItLasts() {
        var report = LinkReport(time: .zero)
        var isTold = false
        var said: [Int64] = []
        for tick in 0..<100 {
            let now = MediaTime.milliseconds(Int64(tick) * 100)
            report.time = now
            // A burst of 1 s at 1 s, and a stall from 3 s to 7 s.
            let isLate = (10..<20).contains(tick) || (30..<70).contains(tick)
            report.noteLateness(isLate ? .seconds(1) : .zero, at: now)
            guard report.isCongestionNews(isTold: isTold) else { continue }
            isTold.toggle()
            said.append(now.milliseconds)
        }
        #expect(said == [5_000, 7_000])
    }

    /// Bug: a keyframe that had just been given to the socket counted as late by the time of its bytes at the stream's
    /// rate.
    @Test func aKeyframeThatWasJustSentIsNotLate() {
        var meter = LinkMeter(at: .zero)
        for step in 1...20 {
            meter.note(sent: UInt64(step) * 10_000, outstanding: 0, at: .milliseconds(Int64(step) * 100))
        }
        meter.note(sent: 300_000, outstanding: 100_000, at: .milliseconds(2100))
        #expect(meter.socketLag(at: .milliseconds(2100)) == .zero)
    }

    @Test func nothingToSendIsNoStall() {
        var meter = LinkMeter(at: .zero)
        meter.note(sent: 1_000, outstanding: 0, at: .seconds(1))
        #expect(meter.stalled(at: .seconds(100)) == .zero)
    }
}
