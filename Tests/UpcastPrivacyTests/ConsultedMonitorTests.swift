import Foundation
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import UpcastPrivacy

/// Promise: a capture is released after its handler has returned, and not where it has failed.
@Suite struct ConsultedMonitorTests {
    private let folder: TemporaryDirectory
    private let seen = Monitor<[CaptureState]>([])
    init() throws { folder = try TemporaryDirectory("privacy") }

    private func monitor(_ onChange: @escaping @Sendable (CaptureState) throws -> Void) throws -> CaptureStateMonitor {
        let limits = CaptureWatch.Limits(
            silence: .seconds(60), answer: .seconds(60), firstPause: .milliseconds(1), longestPause: .milliseconds(10))
        return try CaptureStateMonitor(
            app: "kiosk", socket: folder.socket, limits: limits, clock: MonotonicClock(), onChange: onChange)
    }

    private static func state(_ isCaptured: Bool, _ capture: Int, waitingFor: String = "") -> String {
        #"{"captured":\#(isCaptured),"kind":"screen","client":"c","since":\#(capture),"for_ms":0,"#
            + #""capture":\#(capture),"waiting_for":[\#(waitingFor)]}"#
    }

    private func wait(for count: Int) throws {
        guard seen.wait(until: MonotonicClock().now() + .seconds(10), { $0.count >= count ? true : nil }) == true
        else { throw Missing("\(count) states; there were \(seen.withLock { $0 })") }
    }

    @Test func itIsReleasedWhenTheHandlerHasReturned() throws {
        let daemon = try FakeDaemon(folder.socket)
        let mayReturn = Monitor(false)
        let monitor = try monitor { [seen] state in
            seen.signal { $0.append(state) }
            guard state.isCaptured else { return }
            _ = mayReturn.wait(until: MonotonicClock().now() + .seconds(10)) { $0 ? true : nil }
        }
        let stream = try daemon.accept()
        #expect(stream.request.hasPrefix("GET /state/events?app=kiosk&consult=release HTTP/1.1\r\n"))
        stream.send(FakeConnection.streamHead)
        stream.tell(1, Self.state(false, 0))
        stream.tell(2, Self.state(true, 17, waitingFor: #""app:bank","app:kiosk""#))
        try wait(for: 2)
        // Nothing is asked while it has not returned.
        #expect(!daemon.hasConnection(within: 100))
        mayReturn.signal { $0 = true }
        let release = try daemon.accept()
        #expect(release.request.hasPrefix("POST /state/release HTTP/1.1\r\n"))
        #expect(release.request.hasSuffix(#"{"app":"kiosk","capture":17}"#), "\(release.request)")
        release.send(answer(200, #"{"released":true}"#))
        // Several that come at once are told one by one, and each that waits for the app is answered.
        stream.send(
            "id: 3\nevent: state\ndata: \(Self.state(false, 17))\n\n"
                + "id: 4\nevent: state\ndata: \(Self.state(true, 18))\n\n"
                + "id: 5\nevent: state\ndata: \(Self.state(false, 18))\n\n"
                + "id: 6\nevent: state\ndata: \(Self.state(true, 19, waitingFor: #""app:kiosk""#))\n\n")
        let next = try daemon.accept()
        #expect(next.request.hasSuffix(#"{"app":"kiosk","capture":19}"#), "\(next.request)")
        next.send(answer(200, #"{"released":true}"#))
        #expect(seen.withLock { $0.map(\.isCaptured) } == [false, true, false, true, false, true])
        monitor.stop()
    }

    /// It has not hidden what it has to hide.
    @Test func itIsNotReleasedWhereTheHandlerFails() throws {
        let daemon = try FakeDaemon(folder.socket)
        let monitor = try monitor { [seen] state in
            let count = seen.signal {
                $0.append(state)
                return $0.count
            }
            if count == 1 { throw Missing("room") }
        }
        let stream = try daemon.accept()
        stream.send(FakeConnection.streamHead)
        stream.tell(1, Self.state(true, 17, waitingFor: #""app:kiosk""#))
        stream.tell(2, Self.state(false, 17))
        stream.tell(3, Self.state(true, 18, waitingFor: #""app:kiosk""#))
        // The first answer is one to the second capture.
        let release = try daemon.accept()
        #expect(release.request.hasSuffix(#"{"app":"kiosk","capture":18}"#), "\(release.request)")
        release.send(answer(200, #"{"released":true}"#))
        #expect(seen.withLock { $0.count } == 3)
        monitor.stop()
    }

    /// A daemon that does not take the answer is left, so that nothing waits for an answer that was given.
    @Test func anAnswerThatIsNotTakenEndsTheConnection() throws {
        let daemon = try FakeDaemon(folder.socket)
        let monitor = try monitor { _ in }
        let stream = try daemon.accept()
        stream.send(FakeConnection.streamHead)
        stream.tell(1, Self.state(true, 17, waitingFor: #""app:kiosk""#))
        let release = try daemon.accept()
        release.send(answer(503, #"{"error":{"code":"too_many_connections","message":"16 are open"}}"#))
        try stream.waitForHangUp()
        let again = try daemon.accept()
        #expect(again.request.hasPrefix("GET /state/events?app=kiosk&consult=release "))
        monitor.stop()
    }
}
