@testable import FaultProxy
import Glibc
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// The proxy that the tests of publishing rely on does what it says.
@Suite struct FaultProxyTests {
    /// A client and a server with the proxy between them.
    final class Line {
        let listener = try! Listener()
        let proxy: FaultProxy
        let client: Endpoint
        let server: Endpoint

        init() throws {
            proxy = try FaultProxy(to: listener.port)
            client = try Endpoint(connectingTo: proxy.port)
            server = try listener.accept()
        }

        /// Waits for figures; they are those of now, so a wait is for an event and not for a time.
        func wait(_ condition: (LinkFigures) -> Bool) -> Bool {
            proxy.wait(until: MonotonicClock().now() + .seconds(20), condition)
        }
    }

    private func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) } }

    @Test func carriesBytesBothWaysAndTheEnd() throws {
        let line = try Line()
        let (up, down) = (pattern(5_000), pattern(3_000))
        try line.client.send(up)
        try line.server.send(down)
        #expect(try line.server.receive(up.count) == up)
        #expect(try line.client.receive(down.count) == down)
        shutdown(line.client.descriptor.raw, CInt(SHUT_WR))
        #expect(try line.server.receive(1) == [], "the client's end arrives")
        try line.server.send([9])
        #expect(try line.client.receive(1) == [9], "and the other direction goes on")
        shutdown(line.server.descriptor.raw, CInt(SHUT_WR))
        #expect(try line.client.receive(1) == [])
        #expect(line.wait { $0.open == 0 })
        #expect(line.proxy.figures == LinkFigures(accepted: 1, bytesUp: 5_000, bytesDown: 3_001))
    }

    /// At most a tenth faster; on a busy machine it may be slower.
    @Test(arguments: [300_000, 4_000_000]) func throttles(bits: Int) throws {
        let line = try Line()
        try line.proxy.apply(.rate(bits))
        let count = bits / 8
        let raw = line.client.descriptor.raw
        let sender = try WorkerThread(name: "sender") {
            let bytes = [UInt8](repeating: 1, count: 2 * count)
            var done = 0
            while done < bytes.count {
                let sent = bytes.withUnsafeBytes {
                    send(raw, $0.baseAddress! + done, $0.count - done, CInt(MSG_NOSIGNAL))
                }
                if sent <= 0 { return }
                done += sent
            }
        }
        defer {
            shutdown(raw, CInt(SHUT_RDWR))
            sender.join()
        }
        _ = try line.server.receive(count / 4)
        let start = MonotonicClock().now()
        _ = try line.server.receive(count)
        let seconds = (MonotonicClock().now() - start).secondsAsDouble
        #expect(seconds > 0.9 && seconds < 1.4, "a second's bytes took \(seconds) s")
    }

    /// A sender feels a link that is full: little is under way.
    @Test func aStallFillsTheSendersWindow() throws {
        let line = try Line()
        var small: CInt = 16 * 1024
        setsockopt(line.client.descriptor.raw, SOL_SOCKET, SO_SNDBUF, &small, socklen_t(MemoryLayout<CInt>.size))
        try line.proxy.apply(.stall)
        let sent = line.client.fill(quiet: 100)
        #expect(sent > 0 && sent < 128 * 1024, "\(sent) bytes were taken")
        #expect(line.proxy.figures.bytesUp == 0)
        try line.proxy.apply(.resume)
        #expect(try line.server.receive(sent).count == sent, "nothing is lost")
    }

    @Test func aBlackholeSwallowsAndBreaksAfterwards() throws {
        let line = try Line()
        try line.client.send([1, 2, 3])
        #expect(try line.server.receive(3) == [1, 2, 3])
        try line.proxy.apply(.blackhole)
        try line.client.send(pattern(100_000))
        #expect(line.wait { $0.bytesSwallowed == 100_000 })
        // New connections, too, lead nowhere.
        let second = try Endpoint(connectingTo: line.proxy.port)
        try second.send([1])
        #expect(line.wait { $0.bytesSwallowed == 100_001 && $0.accepted == 2 })
        try line.proxy.apply(.resume)
        #expect(line.proxy.figures.broken == 0, "nobody is told before more is sent")
        try line.client.send([4])
        #expect(throws: Errno(ECONNRESET)) { try line.client.receive(1) }
        #expect(throws: Errno(ECONNRESET)) { try line.server.receive(1) }
        try second.send([4])
        #expect(throws: Errno(ECONNRESET)) { try second.receive(1) }
        #expect(line.proxy.figures.bytesUp == 3)
    }

    @Test func aResetReachesBothEnds() throws {
        let line = try Line()
        try line.proxy.apply(.reset)
        #expect(throws: Errno(ECONNRESET)) { try line.client.receive(1) }
        #expect(throws: Errno(ECONNRESET)) { try line.server.receive(1) }
        #expect(line.proxy.figures == LinkFigures(accepted: 1, broken: 1))
        // The link itself is as good as before.
        let client = try Endpoint(connectingTo: line.proxy.port)
        let server = try line.listener.accept()
        try client.send([5])
        #expect(try server.receive(1) == [5])
    }

    @Test func aCloseReachesBothEnds() throws {
        let line = try Line()
        try line.proxy.apply(.close)
        #expect(try line.client.receive(1) == [])
        #expect(try line.server.receive(1) == [])
    }

    /// Cut in the middle of something, to the byte.
    @Test func stepsCanWaitForBytes() throws {
        let line = try Line()
        try line.client.send(pattern(100))
        _ = try line.server.receive(100)
        try line.proxy.run(LinkSchedule("1000B corrupt up 2B; 20kB reset"))
        let bytes = pattern(50_000)
        try? line.client.send(bytes)
        #expect(line.wait { $0.broken == 1 })
        #expect(line.proxy.figures.bytesUp == 20_100)
        var expected = Array(bytes[..<1_010])
        for index in 1_000..<1_002 { expected[index] = ~expected[index] }
        #expect(try line.server.receive(1_010) == expected)
    }

    @Test func stepsCanWaitForTime() throws {
        let line = try Line()
        let start = MonotonicClock().now()
        try line.proxy.run(LinkSchedule("100ms corrupt down 1B; 200ms reset"))
        #expect(throws: Errno(ECONNRESET)) { try line.client.receive(1) }
        #expect(MonotonicClock().now() - start >= .milliseconds(200))
    }

    @Test func corruptsOnlyWhatItWasToldTo() throws {
        let line = try Line()
        try line.proxy.apply(.corrupt(.down, bytes: 2))
        try line.client.send([1, 2, 3])
        #expect(try line.server.receive(3) == [1, 2, 3])
        try line.server.send([1, 2, 3])
        #expect(try line.client.receive(3) == [254, 253, 3])
    }

    @Test func delaysEachDirectionAndKeepsTheOrder() throws {
        let line = try Line()
        try line.proxy.apply(.delay(.milliseconds(150)))
        let start = MonotonicClock().now()
        try line.client.send([1])
        #expect(try line.server.receive(1) == [1])
        #expect(MonotonicClock().now() - start >= .milliseconds(150))
        try line.server.send([2])
        #expect(try line.client.receive(1) == [2])
        #expect(MonotonicClock().now() - start >= .milliseconds(300))
        try line.client.send([3])
        #expect(line.wait { $0.bytesUp == 2 })
        try line.proxy.apply(.delay(.zero))
        try line.client.send([4])
        #expect(try line.server.receive(2) == [3, 4], "what was sent later does not overtake")
    }

    @Test func refusesAndTakesAgain() throws {
        let line = try Line()
        try line.proxy.apply(.refuse)
        for _ in 0..<3 {
            #expect(throws: Errno(ECONNREFUSED)) { _ = try Endpoint(connectingTo: line.proxy.port) }
        }
        try line.client.send([1])
        #expect(try line.server.receive(1) == [1], "existing connections go on")
        try line.proxy.apply(.listen)
        try Endpoint(connectingTo: line.proxy.port).send([1])
        #expect(line.wait { $0.accepted == 2 })
    }

    @Test func unreachableMeansThatNobodyAnswers() throws {
        let line = try Line()
        try line.proxy.apply(.unreachable)
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let attempt = try OwnedDescriptor(checking: socket(AF_INET, type, 0))
        let raw = attempt.raw
        #expect(!Loopback.connect(raw, to: line.proxy.port) && errno == EINPROGRESS)
        var connected = pollfd(fd: raw, events: Int16(POLLOUT), revents: 0)
        #expect(poll(&connected, 1, 200) == 0, "neither answered nor refused")
        try line.proxy.apply(.clear)
        try Endpoint(connectingTo: line.proxy.port).send([1])
        #expect(line.wait { $0.accepted == 2 })
    }

    @Test func withoutAServerTheClientIsReset() throws {
        let port = try Listener().port
        let proxy = try FaultProxy(to: port)
        let client = try Endpoint(connectingTo: proxy.port)
        #expect(throws: Errno(ECONNRESET)) { try client.receive(1) }
        #expect(proxy.wait(until: MonotonicClock().now() + .seconds(20)) { $0.broken == 1 })
    }

    @Test func oneEndsResetIsTheOthers() throws {
        let line = try Line()
        var abort = linger(l_onoff: 1, l_linger: 0)
        setsockopt(line.server.descriptor.raw, SOL_SOCKET, SO_LINGER, &abort, socklen_t(MemoryLayout<linger>.size))
        // Connecting to nothing ends a connection at once.
        var nobody = sockaddr()
        nobody.sa_family = sa_family_t(AF_UNSPEC)
        connect(line.server.descriptor.raw, &nobody, socklen_t(MemoryLayout<sockaddr>.size))
        #expect(throws: Errno(ECONNRESET)) { try line.client.receive(1) }
        #expect(line.wait { $0.broken == 1 && $0.open == 0 })
    }
}
