import MediaCore
import Testing

@testable import UpcastPrivacy

/// What is believed of the capture state, without a connection or a clock.
@Suite struct CaptureWatchTests {
    private static let capture = CaptureState.captured(
        Capture(kind: .screen, client: "client", since: UTCTime(sinceEpoch: .seconds(1))))
    private let limits = CaptureWatch.Limits()

    private func at(_ milliseconds: Int64) -> MediaTime { .seconds(100) + .milliseconds(milliseconds) }

    /// One that is connected at 0 and has been told `state`.
    private func told(_ state: CaptureState) -> CaptureWatch {
        var watch = CaptureWatch(limits, at: at(0))
        #expect(watch.step(at: at(0)) == .connect)
        #expect(watch.handle(.connected, at: at(0)) == .wait)
        #expect(watch.state(at: at(0)) == .unknown)
        #expect(watch.handle(.told(state, number: 1), at: at(0)) == .wait)
        #expect(watch.state(at: at(0)) == state)
        return watch
    }

    @Test func nothingIsKnownAtFirst() {
        let watch = CaptureWatch(limits, at: at(0))
        #expect(watch.state(at: at(0)) == .unknown && watch.state(at: at(0)).isCaptured)
    }

    @Test func changesAreTold() {
        var watch = told(.notCaptured)
        #expect(watch.handle(.told(Self.capture, number: 2), at: at(100)) == .wait)
        #expect(watch.state(at: at(100)) == Self.capture)
        #expect(watch.handle(.told(.notCaptured, number: 3), at: at(200)) == .wait)
        #expect(watch.state(at: at(200)) == .notCaptured)
    }

    /// Also where nobody asks the watch in time: a thread that is held up does not lend the state longer life.
    @Test(arguments: [CaptureState.notCaptured, capture]) func silenceEndsWhatIsKnown(state: CaptureState) {
        var watch = told(state)
        _ = watch.handle(.heartbeat, at: at(2000))
        #expect(watch.state(at: at(4999)) == state && watch.step(at: at(4999)) == .wait)
        #expect(watch.state(at: at(5000)) == .unknown)
        #expect(watch.step(at: at(5000)) == .drop)
        // What lay about in the socket comes too late.
        #expect(watch.handle(.heartbeat, at: at(5000)) == .wait)
        #expect(watch.handle(.told(.notCaptured, number: 2), at: at(5000)) == .drop)
        #expect(watch.state(at: at(5000)) == .unknown)
    }

    /// One that is missing could be the one that counts.
    @Test(arguments: [0, 1, 3, -1, Int.max]) func eventsOutOfOrder(number: Int) {
        var watch = told(Self.capture)
        #expect(watch.handle(.told(.notCaptured, number: number), at: at(10)) == .drop)
        #expect(watch.state(at: at(10)) == .unknown)
        var fresh = CaptureWatch(limits, at: at(0))
        _ = fresh.handle(.connected, at: at(0))
        guard number != 1 else { return }
        #expect(fresh.handle(.told(.notCaptured, number: number), at: at(10)) == .drop)
        #expect(fresh.state(at: at(10)) == .unknown)
    }

    @Test func aConnectionThatEndsLeavesNothing() {
        var watch = told(.notCaptured)
        #expect(watch.handle(.hungUp, at: at(10)) == .drop)
        #expect(watch.state(at: at(10)) == .unknown)
        #expect(watch.handle(.heartbeat, at: at(11)) == .wait)
        #expect(watch.state(at: at(11)) == .unknown)
    }

    /// The end of the process is looked into at once; only an empty place says that nobody has come since.
    @Test func theProcessHasEnded() {
        var watch = told(Self.capture)
        _ = watch.handle(.hungUp, at: at(10))
        _ = watch.handle(.noSocket, at: at(60))
        #expect(watch.state(at: at(60)) == .unknown)
        #expect(watch.handle(.processEnded, at: at(61)) == .wait)
        #expect(watch.state(at: at(61)) == .unknown)
        #expect(watch.step(at: at(61)) == .connect)
        _ = watch.handle(.noSocket, at: at(61))
        #expect(watch.state(at: at(61)) == .notCaptured)
        _ = watch.handle(.noSocket, at: at(500))
        #expect(watch.state(at: at(3400)) == .notCaptured)
        #expect(watch.state(at: at(3500)) == .unknown)
        // Somebody is there.
        _ = watch.handle(.notConnected, at: at(3500))
        _ = watch.handle(.noSocket, at: at(3600))
        #expect(watch.state(at: at(3600)) == .unknown)
    }

    /// The daemon dies, another starts and captures before its end is seen: that says nothing of the other.
    @Test func anotherHasTakenItsPlace() {
        for event in [CaptureWatch.Event.connected, .notConnected] {
            var watch = told(.notCaptured)
            _ = watch.handle(.hungUp, at: at(10))
            _ = watch.handle(event, at: at(60))
            _ = watch.handle(.processEnded, at: at(61))
            _ = watch.handle(.noSocket, at: at(62))
            #expect(watch.state(at: at(62)) == .unknown, "\(event)")
        }
    }

    /// Who was connected to nobody that spoke knows nothing of a daemon's end; nor who has heard what it did not
    /// understand, or nothing.
    @Test func anEndThatSaysNothing() {
        var silent = CaptureWatch(limits, at: at(0))
        _ = silent.handle(.connected, at: at(0))
        _ = silent.handle(.hungUp, at: at(1))
        var strange = told(Self.capture)
        _ = strange.handle(.notUnderstood, at: at(1))
        var frozen = told(Self.capture)
        #expect(frozen.step(at: at(3000)) == .drop)
        for var watch in [silent, strange, frozen] {
            _ = watch.handle(.processEnded, at: at(3001))
            _ = watch.handle(.noSocket, at: at(3001))
            #expect(watch.state(at: at(3001)) == .unknown)
        }
        var open = told(Self.capture)
        _ = open.handle(.processEnded, at: at(1))
        #expect(open.state(at: at(1)) == Self.capture)
    }

    @Test func nobodyListens() {
        var watch = CaptureWatch(limits, at: at(0))
        _ = watch.handle(.nobodyListens, at: at(0))
        #expect(watch.state(at: at(0)) == .notCaptured)
        // A new daemon: nothing is known until it has spoken.
        _ = watch.handle(.connected, at: at(50))
        #expect(watch.state(at: at(50)) == .unknown)
        // A socket that is gone after that is anybody's.
        var gone = CaptureWatch(limits, at: at(0))
        _ = gone.handle(.nobodyListens, at: at(0))
        _ = gone.handle(.noSocket, at: at(50))
        #expect(gone.state(at: at(50)) == .unknown)
    }

    @Test func pausesAreBounded() {
        var watch = CaptureWatch(limits, at: at(0))
        var now = at(0)
        var pauses: [Int64] = []
        for _ in 0..<100 {
            #expect(watch.step(at: now) == .connect)
            _ = watch.handle(.notConnected, at: now)
            #expect(watch.step(at: now) == .wait)
            pauses.append((watch.deadline - now).milliseconds)
            now = watch.deadline
        }
        #expect(pauses[..<5] == [20, 40, 80, 160, 250] && pauses.max() == 250)
        // A daemon that speaks is one that is there.
        _ = watch.handle(.connected, at: now)
        _ = watch.handle(.told(.notCaptured, number: 1), at: now)
        _ = watch.handle(.hungUp, at: now)
        #expect(watch.deadline == now + limits.firstPause)
    }

    @Test func anAnswerIsNotAwaitedForEver() {
        var watch = CaptureWatch(limits, at: at(0))
        _ = watch.handle(.connected, at: at(0))
        _ = watch.handle(.heartbeat, at: at(9000))
        #expect(watch.step(at: at(9999)) == .wait)
        #expect(watch.step(at: at(10_000)) == .drop)
    }
}
