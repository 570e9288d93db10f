import Foundation
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import UpcastPrivacy

/// A monitor, and a daemon that the test plays.
@Suite struct CaptureStateMonitorTests {
    private let folder: TemporaryDirectory
    private let seen = Monitor<[CaptureState]>([])

    init() throws { folder = try TemporaryDirectory("privacy") }

    private static let nothing = #"{"captured":false,"kind":"","client":"","since":5,"for_ms":0}"#
    private static let something =
        #"{"captured":true,"kind":"mirroring","client":"a\u001bb","since":1795339486000,"for_ms":3}"#
    private static let capture = CaptureState.captured(
        Capture(kind: .mirroring, client: "a\u{1B}b", since: UTCTime(sinceEpoch: .seconds(1_795_339_486))))

    /// One whose limits are so long that none of them is reached, unless a test is about one.
    private func monitor(
        silence: MediaTime = .seconds(60), answer: MediaTime = .seconds(60), clock: any TimeSource = MonotonicClock()
    ) throws -> CaptureStateMonitor {
        let limits = CaptureWatch.Limits(
            silence: silence, answer: answer, firstPause: .milliseconds(1), longestPause: .milliseconds(10))
        return try CaptureStateMonitor(app: nil, socket: folder.socket, limits: limits, clock: clock) { [seen] state in
            seen.signal { $0.append(state) }
        }
    }

    private func wait(for states: [CaptureState]) throws {
        let deadline = MonotonicClock().now() + .seconds(10)
        guard seen.wait(until: deadline, { $0.starts(with: states) ? true : nil }) == true else {
            throw Missing("\(states); there were \(seen.withLock { $0 })")
        }
    }

    private func wait(until isSo: () -> Bool) throws {
        let deadline = MonotonicClock().now() + .seconds(10)
        while !isSo() {
            guard MonotonicClock().now() < deadline else { throw Missing("a state") }
            usleep(2000)
        }
    }

    @Test func changesAreTold() throws {
        let daemon = try FakeDaemon(folder.socket)
        let monitor = try monitor()
        #expect(monitor.state == .unknown && monitor.isCaptured)
        let connection = try daemon.accept()
        #expect(connection.request.hasPrefix("GET /state/events HTTP/1.1\r\n"))
        connection.send(FakeConnection.streamHead)
        connection.tell(1, Self.nothing)
        try wait(for: [.notCaptured])
        #expect(monitor.state == .notCaptured && !monitor.isCaptured)
        connection.send(": alive\n\n: alive\n\n")
        connection.tell(2, Self.something)
        try wait(for: [.notCaptured, Self.capture])
        #expect(monitor.state == Self.capture && monitor.isCaptured)
        monitor.stop()
    }

    /// Each that does not say without doubt what is captured; whoever says it is left, and asked again.
    @Test(arguments: [
        "SSH-2.0-x\r\n\r\n", answer(503, #"{"error":{"code":"too_many_streams","message":"8 are open"}}"#),
        answer(404, "<h1>Not Found</h1>"), answer(200, nothing),
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        FakeConnection.streamHead + "id: 1\ndata: \(nothing)\n\n",
        FakeConnection.streamHead + "id: 1\nevent: status\ndata: \(nothing)\n\n",
        FakeConnection.streamHead + "event: state\ndata: \(nothing)\n\n",
        FakeConnection.streamHead + "id: 2\nevent: state\ndata: \(nothing)\n\n",
        FakeConnection.streamHead + "id: 1\nevent: state\ndata: {}\n\n",
        FakeConnection.streamHead + "id: 1\nevent: state\ndata: [false]\n\n",
        FakeConnection.streamHead + "id: 1\nevent: state\ndata: {\"captured\":\"no\"}\n\n",
        FakeConnection.streamHead + "id: 1\nevent: state\ndata: {\"captured\":0}\n\n",
        FakeConnection.streamHead + "id: 1\nevent: state\ndata: {\"captured\":false,\"captured\":true}\n\n",
        FakeConnection.streamHead + "id: 1\nevent: state\ndata: {\"captured\":false\n\n",
        FakeConnection.streamHead + "id: 1\nevent: state\ndata: {\"captured\":false,\"x\":\""
            + String(repeating: "x", count: 10_000) + "\"}\n\n",
        FakeConnection.streamHead + "data: " + String(repeating: "x", count: 300_000),
        String(repeating: "x", count: 20_000),
    ])
    func whatIsNotUnderstood(bytes: String) throws {
        let daemon = try FakeDaemon(folder.socket)
        let monitor = try monitor()
        let connection = try daemon.accept()
        connection.send(bytes)
        try connection.waitForHangUp()
        #expect(monitor.state == .unknown)
        let again = try daemon.accept()
        again.send(FakeConnection.streamHead)
        again.tell(1, Self.something)
        try wait(for: [Self.capture])
        monitor.stop()
    }

    /// An event that is missing or comes twice could be the one that counts.
    @Test(arguments: [1, 3]) func eventsOutOfOrder(number: Int) throws {
        let daemon = try FakeDaemon(folder.socket)
        let monitor = try monitor()
        let connection = try daemon.accept()
        connection.send(FakeConnection.streamHead)
        connection.tell(1, Self.something)
        connection.tell(number, Self.nothing)
        try connection.waitForHangUp()
        #expect(monitor.state == .unknown)
        try wait(for: [Self.capture])
        #expect(!seen.withLock { $0.contains(.notCaptured) })
        monitor.stop()
    }

    /// Bug: each event counted as news of the moment in which the app was done with the one before.
    @Test func whatHasWaitedForTheAppIsNoNews() throws {
        let daemon = try FakeDaemon(folder.socket)
        let clock = ManualClock()
        let limits = CaptureWatch.Limits(
            silence: .seconds(3), answer: .seconds(60), firstPause: .seconds(1), longestPause: .seconds(1))
        let monitor = try CaptureStateMonitor(app: nil, socket: folder.socket, limits: limits, clock: clock) {
            [seen] state in
            if state != .unknown { clock.advance(by: .seconds(2)) }
            seen.signal { $0.append(state) }
        }
        let connection = try daemon.accept()
        let events = [Self.nothing, Self.something, Self.nothing].enumerated().map { index, data in
            "id: \(index + 1)\nevent: state\ndata: \(data)\n\n"
        }
        connection.send(FakeConnection.streamHead + events.joined() + ": alive\n\n")
        try connection.waitForHangUp()
        try wait(for: [.notCaptured, Self.capture, .unknown])
        #expect(monitor.state == .unknown)
        monitor.stop()
    }

    /// From the end of the connection on, nobody knows; here the process lives on, and nobody answers.
    @Test(arguments: [nothing, something], [true, false]) func theConnectionEnds(data: String, isHalf: Bool) throws {
        let daemon = try FakeDaemon(folder.socket)
        let monitor = try monitor()
        var connection: FakeConnection? = try daemon.accept()
        connection?.send(FakeConnection.streamHead)
        connection?.tell(1, data)
        let state = data == Self.nothing ? CaptureState.notCaptured : Self.capture
        try wait(for: [state])
        if isHalf { connection?.send("id: 2\nevent: state\ndata: \(Self.nothing)\n") }
        connection = nil
        try wait(for: [state, .unknown])
        _ = try daemon.accept()
        _ = try daemon.accept()
        #expect(monitor.state == .unknown)
        monitor.stop()
    }

    /// A daemon that is silent, one that begins an event and does not end it, and one that sends what is no sign of
    /// life: none of them keeps a state alive.
    @Test(arguments: ["", "id: 2\nevent: state\ndata: {\"captured\":true", "drip", "comments in an event"])
    func silence(rest: String) throws {
        let daemon = try FakeDaemon(folder.socket)
        let monitor = try monitor(silence: .milliseconds(500))
        let connection = try daemon.accept()
        connection.send(FakeConnection.streamHead)
        connection.tell(1, Self.nothing)
        try wait(for: [.notCaptured])
        if rest == "comments in an event" { connection.send("data: {}\n") }
        try wait {
            switch rest {
            case "drip": connection.send("x")
            case "comments in an event": connection.send(": alive\n")
            default: break
            }
            return monitor.state == .unknown
        }
        if rest != "drip", rest != "comments in an event" { connection.send(rest) }
        try wait(for: [.notCaptured, .unknown])
        monitor.stop()
    }

    /// What is known ends by the clock, also while the monitor's thread is held up by whoever it tells.
    @Test func aThreadThatIsHeldUp() throws {
        let daemon = try FakeDaemon(folder.socket)
        let clock = ManualClock(.seconds(1000))
        let gate = Monitor(false)
        let limits = CaptureWatch.Limits()
        let monitor = try CaptureStateMonitor(
            app: nil, socket: folder.socket, limits: limits, clock: clock
        ) { [seen] state in
            seen.signal { $0.append(state) }
            _ = gate.wait { $0 ? true : nil }
        }
        let connection = try daemon.accept()
        connection.send(FakeConnection.streamHead)
        connection.tell(1, Self.nothing)
        try wait(for: [.notCaptured])
        clock.advance(by: limits.silence - .milliseconds(1))
        #expect(monitor.state == .notCaptured)
        clock.advance(by: .milliseconds(1))
        #expect(monitor.state == .unknown && monitor.isCaptured)
        gate.signal { $0 = true }
        monitor.stop()
    }

    @Test func aDaemonThatTakesItsTimeIsAskedAgain() throws {
        let daemon = try FakeDaemon(folder.socket)
        let monitor = try monitor(answer: .milliseconds(100))
        let silent = try daemon.accept()
        let next = try daemon.accept()
        try silent.waitForHangUp()
        #expect(monitor.state == .unknown)
        next.send(FakeConnection.streamHead)
        next.tell(1, Self.something)
        try wait(for: [Self.capture])
        monitor.stop()
    }

    /// Nobody listens: not captured, until somebody does, who may capture already.
    @Test func nobodyListens() throws {
        _ = try FakeDaemon(folder.socket)
        let monitor = try monitor()
        try wait(for: [.notCaptured])
        let daemon = try FakeDaemon(folder.socket)
        let connection = try daemon.accept()
        try wait(for: [.notCaptured, .unknown])
        connection.send(FakeConnection.streamHead)
        connection.tell(1, Self.something)
        try wait(for: [.notCaptured, .unknown, Self.capture])
        monitor.stop()
    }

    /// Places that say nothing of a daemon. (Linux refuses a connection to a plain file, too.)
    @Test(arguments: ["nothing", "no folder", "a file", "a link to nowhere", "a datagram socket", "a full backlog"])
    func whereNobodyCanTell(place: String) throws {
        let path = folder.socket
        var full: FakeDaemon?
        let kept = KeptOpen()
        switch place {
        case "no folder": try FileManager.default.removeItem(atPath: folder.path)
        case "a file": try Data().write(to: URL(filePath: path))
        case "a link to nowhere":
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.path + "/nowhere")
        case "a datagram socket":
            let raw = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
            kept.add(OwnedDescriptor(raw))
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let result = withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(raw, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            #expect(result == 0)
        case "a full backlog":
            full = try FakeDaemon(path, backlog: 0)
            kept.fill(path)
            #expect(!kept.all.isEmpty)
        default: break
        }
        let clock = CountingClock()
        let monitor = try monitor(clock: clock)
        // It looks at the clock some times for each attempt.
        try wait { clock.looks > 60 }
        #expect(monitor.state == .unknown && seen.withLock { $0.isEmpty })
        let begin = MonotonicClock().now()
        monitor.stop()
        #expect(MonotonicClock().now() - begin < .seconds(5))
        _ = (full, kept)
    }

    // MARK: Listening and stopping

    @Test func sequencesOfStates() async throws {
        let daemon = try FakeDaemon(folder.socket)
        let monitor = try monitor()
        let first = monitor.states
        let connection = try daemon.accept()
        connection.send(FakeConnection.streamHead)
        connection.tell(1, Self.nothing)
        try wait(for: [.notCaptured])
        let second = monitor.states
        connection.tell(2, Self.something)
        try wait(for: [.notCaptured, Self.capture])
        do { // One that nobody reads any more.
            _ = monitor.states
        }
        await monitor.stop()
        #expect(monitor.state == .unknown)
        var states: [CaptureState] = []
        for await state in first { states.append(state) }
        #expect(states == [.unknown, .notCaptured, Self.capture, .unknown])
        states = []
        for await state in second { states.append(state) }
        #expect(states == [.notCaptured, Self.capture, .unknown])
        states = []
        for await state in monitor.states { states.append(state) }
        #expect(states == [.unknown])
        // Nobody is told after the stop.
        #expect(seen.withLock { $0 } == [.notCaptured, Self.capture])
    }

    /// Twice, while it waits for an answer, and where nobody keeps it.
    @Test func stopping() throws {
        let daemon = try FakeDaemon(folder.socket)
        let one = try monitor()
        let connection = try daemon.accept()
        one.stop()
        one.stop()
        try connection.waitForHangUp()
        var other: CaptureStateMonitor? = try monitor()
        #expect(other?.isCaptured == true)
        let next = try daemon.accept()
        other = nil
        try next.waitForHangUp()
    }

    /// Whoever is told may stop it, and may be the last who keeps it.
    @Test func stoppingWhileItIsTold() throws {
        let daemon = try FakeDaemon(folder.socket)
        let kept = Monitor<CaptureStateMonitor?>(nil)
        let isTold = Monitor(false)
        let monitor = Monitor(
            try CaptureStateMonitor(app: nil, socket: folder.socket) { _ in
                let last = kept.wait { $0.take() }
                last?.stop()
                isTold.signal { $0 = true }
            } as CaptureStateMonitor?)
        kept.signal { $0 = monitor.withLock { $0.take() } }
        let connection = try daemon.accept()
        connection.send(FakeConnection.streamHead)
        connection.tell(1, Self.nothing)
        #expect(isTold.wait(until: MonotonicClock().now() + .seconds(10)) { $0 ? true : nil } == true)
        try connection.waitForHangUp()
    }
}
