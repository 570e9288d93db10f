import Glibc
import LinuxSystem
import MediaCore
@testable import Publishing
import TestLimits
import TestSupport
import Testing

@Suite struct ConnectingTests {
    private func resolve(_ host: String) throws -> [SocketAddress] {
        try HostResolver.addresses(
            of: host, port: 1935, control: PublishControl(clock: MonotonicClock()),
            until: MonotonicClock().now() + .seconds(20))
    }

    @Test func addressesAsTextNeedNoResolver() throws {
        #expect(try resolve("192.0.2.7").map(\.description) == ["192.0.2.7 port 1935"])
        #expect(try resolve("2001:db8::7").map(\.description) == ["2001:db8::7 port 1935"])
    }

    @Test func familiesAlternateFromTheResolversFirstChoice() throws {
        let four = try (1...3).flatMap { try resolve("192.0.2.\($0)") }
        let six = try (1...2).flatMap { try resolve("2001:db8::\($0)") }
        #expect(SocketAddress.alternating(six + four) == [six[0], four[0], six[1], four[1], four[2]])
        #expect(SocketAddress.alternating(four + six) == [four[0], six[0], four[1], six[1], four[2]])
        #expect(SocketAddress.alternating([]) == [])
        #expect(SocketAddress.alternating(four) == four)
    }

    private func address(_ port: UInt16, _ host: String = "127.0.0.1") throws -> [SocketAddress] {
        try HostResolver.addresses(
            of: host, port: port, control: PublishControl(clock: MonotonicClock()),
            until: MonotonicClock().now() + .seconds(20))
    }

    /// Connects, and returns the address that answered.
    private func connect(
        to addresses: [SocketAddress], addressTimeout: MediaTime = .seconds(20), within time: MediaTime = .seconds(20),
        clock: any TimeSource = MonotonicClock(), control: PublishControl? = nil
    ) throws -> SocketAddress? {
        let connector = TCPConnector(
            addressTimeout: addressTimeout, clock: clock, control: try control ?? PublishControl(clock: clock))
        let descriptor = try connector.connect(to: addresses, until: clock.now() + time)
        return SocketAddress(peerOf: descriptor.raw)
    }

    /// Trying the addresses one after another, each for its share of the time, would have cost ten seconds.
    @Test func aDeadAddressCostsAQuarterOfASecond() throws {
        let hole = try BlackHole()
        let server = try ScriptedServer { $0.receiveAll() }
        let start = MonotonicClock().now()
        let peer = try connect(to: address(hole.port) + address(server.port))
        let time = MonotonicClock().now() - start
        #expect(try peer == address(server.port).first)
        #expect(time >= TCPConnector.attemptDelay && time < .seconds(5), "\(time)")
    }

    @Test(arguments: ["127.0.0.1", "::1"]) func oneFamilyThatListensIsEnough(host: String) throws {
        let (listening, deaf) = host == "::1" ? ("::1", "127.0.0.1") : ("127.0.0.1", "::1")
        let port = try LoopbackPort(listening, isListening: true)
        let other = try LoopbackPort(deaf, isListening: false)
        #expect(
            try connect(to: address(other.number, deaf) + address(port.number, listening))
                == address(port.number, listening).first)
    }

    /// A refusal starts the next attempt at once: all eight attempts happen while time stands still.
    @Test(.endsWithin(60)) func refusalsAreNamedOneByOneAndCostNoTime() throws {
        let ports = try (0..<9).map { _ in try LoopbackPort("127.0.0.1", isListening: false) }
        let addresses = try ports.flatMap { try address($0.number) }
        let error = #expect(throws: PublishError.self) { try connect(to: addresses, clock: ManualClock()) }
        let words = ports.prefix(8).map { "127.0.0.1 port \($0.number): Connection refused" }
        #expect(error == PublishError(.connect, "cannot connect: \(words.joined(separator: ", "))"))
    }

    @Test func anAddressThatSwallowsConnectionsHasItsOwnTimeout() throws {
        let hole = try BlackHole()
        let refusing = try LoopbackPort("127.0.0.1", isListening: false)
        let error = #expect(throws: PublishError.self) {
            try connect(to: address(hole.port) + address(refusing.number), addressTimeout: .milliseconds(50))
        }
        let words = "127.0.0.1 port \(hole.port) did not answer, 127.0.0.1 port \(refusing.number): Connection refused"
        #expect(error == PublishError(.connectTimeout, "cannot connect: \(words)"))
    }

    @Test func theWholeHasATimeoutToo() throws {
        let holes = [try BlackHole(), try BlackHole()]
        let error = #expect(throws: PublishError.self) {
            try connect(to: holes.flatMap { try address($0.port) }, within: .milliseconds(100))
        }
        let words = """
            127.0.0.1 port \(holes[0].port) did not answer, \
            127.0.0.1 port \(holes[1].port) was not tried for lack of time
            """
        #expect(error == PublishError(.connectTimeout, "cannot connect: \(words)"))
        #expect(throws: PublishError.self) { try connect(to: address(holes[0].port), within: .zero) }
    }

    @Test func connectingCanBeCancelled() throws {
        let hole = try BlackHole()
        let control = try PublishControl(clock: MonotonicClock())
        let addresses = try address(hole.port)
        let outcome = Monitor<PublishError?>(nil)
        let thread = try WorkerThread(name: "connecting") {
            do {
                _ = try connect(
                    to: addresses, addressTimeout: .seconds(600), within: .seconds(600), control: control)
            } catch { outcome.withLock { $0 = error as? PublishError } }
        }
        control.cancel()
        thread.join()
        #expect(outcome.withLock { $0 }?.cause == .cancelled)
    }

    @Test func aWaitTellsWhichOfSeveralIsReady() throws {
        let control = try PublishControl(clock: MonotonicClock())
        let events = try (0..<8).map { _ in try EventDescriptor() }
        let soon = MonotonicClock().now() + .seconds(20)
        events[3].signal()
        events[7].signal()
        guard case .ready(let ready) = control.wait(for: POLLIN, onAnyOf: events.map(\.raw), until: soon) else {
            Issue.record("not ready")
            return
        }
        #expect(ready == [3, 7])
        guard case .timeout = control.wait(for: POLLIN, onAnyOf: [], until: MonotonicClock().now()) else {
            Issue.record("no timeout")
            return
        }
        control.cancel()
        guard case .cancelled = control.wait(for: POLLIN, onAnyOf: events.map(\.raw), until: soon) else {
            Issue.record("not cancelled")
            return
        }
    }

    @Test func aCancelledControlEndsEveryWait() throws {
        let control = try PublishControl(clock: MonotonicClock())
        let event = try EventDescriptor()
        let far = MonotonicClock().now() + .seconds(600)
        let waiter = Monitor<PublishControl.Readiness?>(nil)
        let thread = try WorkerThread(name: "waiter") {
            let result = control.wait(for: POLLIN, on: event.raw, until: far)
            waiter.signal { $0 = result }
        }
        // Lowering the limit to a time far in the future must not end the wait.
        control.limit(to: MonotonicClock().now() + .seconds(300))
        #expect(waiter.withLock { $0 } == nil)
        control.cancel()
        thread.join()
        #expect(waiter.withLock { $0 } == .cancelled)
        event.signal()
        #expect(control.wait(for: POLLIN, on: event.raw, until: far) == .cancelled, "even where there is something")
        #expect(throws: PublishError.self) {
            try HostResolver.addresses(of: "localhost", port: 1, control: control, until: far)
        }
    }

    @Test func waitsEndAtTheirDeadlineOrWhenReady() throws {
        let control = try PublishControl(clock: MonotonicClock())
        let event = try EventDescriptor()
        #expect(control.wait(for: POLLIN, on: event.raw, until: MonotonicClock().now() + .milliseconds(5)) == .timeout)
        event.signal()
        #expect(control.wait(for: POLLIN, on: event.raw, until: MonotonicClock().now() + .seconds(60)) == .ready)
        #expect(!control.isOver)
    }
}
