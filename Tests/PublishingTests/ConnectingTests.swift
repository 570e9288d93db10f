import Glibc
import LinuxSystem
import MediaCore
@testable import Publishing
import Testing

@Suite struct ConnectingTests {
    private func resolve(_ host: String) throws -> [SocketAddress] {
        try HostResolver.addresses(
            of: host, port: 1935, control: PublishControl(), until: MonotonicClock().now() + .seconds(20))
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

    private func address(_ port: UInt16) throws -> [SocketAddress] {
        try HostResolver.addresses(
            of: "127.0.0.1", port: port, control: PublishControl(), until: MonotonicClock().now() + .seconds(20))
    }

    @Test func aDeadAddressCostsItsShareOnly() throws {
        let hole = try BlackHole()
        let server = try ScriptedServer { $0.receiveAll() }
        let clock = MonotonicClock()
        let descriptor = try TCPConnector.connect(
            to: address(hole.port) + address(server.port), clock: clock, control: PublishControl(),
            until: clock.now() + .milliseconds(600))
        let number = descriptor.raw
        #expect(number >= 0)
    }

    @Test func anAddressThatSwallowsConnectionsRunsIntoTheTimeout() throws {
        let hole = try BlackHole()
        let clock = MonotonicClock()
        let error = #expect(throws: PublishError.self) {
            _ = try TCPConnector.connect(
                to: address(hole.port), clock: clock, control: PublishControl(),
                until: clock.now() + .milliseconds(200))
        }
        #expect(error?.kind == .connectTimeout)
        #expect(error?.detail == "cannot connect: 127.0.0.1 port \(hole.port) did not answer")
    }

    @Test func aCancelledControlEndsEveryWait() throws {
        let control = try PublishControl()
        let event = try EventDescriptor()
        let far = MonotonicClock().now() + .seconds(600)
        let waiter = Monitor<PublishControl.Readiness?>(nil)
        let thread = try WorkerThread(name: "waiter") {
            let result = control.wait(for: POLLIN, on: event.raw, until: far)
            waiter.signal { $0 = result }
        }
        // Lowering the limit to a time still far off must not end the wait.
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
        let control = try PublishControl()
        let event = try EventDescriptor()
        #expect(control.wait(for: POLLIN, on: event.raw, until: MonotonicClock().now() + .milliseconds(5)) == .timeout)
        event.signal()
        #expect(control.wait(for: POLLIN, on: event.raw, until: MonotonicClock().now() + .seconds(60)) == .ready)
        #expect(!control.isOver)
    }
}
