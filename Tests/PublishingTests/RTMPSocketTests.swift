import Glibc
import LinuxSystem
import MediaCore
@testable import Publishing
import TestSupport
import Testing

/// The requests to the kernel, and its answers.
@Suite struct RTMPSocketTests {
    private func socket(
        to port: UInt16, control: PublishControl, _ inspect: (CInt) throws -> Void = { _ in }
    ) throws -> RTMPSocket {
        let clock = MonotonicClock()
        let soon = clock.now() + .seconds(20)
        let addresses = try HostResolver.addresses(of: "127.0.0.1", port: port, control: control, until: soon)
        let connector = TCPConnector(addressTimeout: .seconds(20), clock: clock, control: control)
        let descriptor = try connector.connect(to: addresses, until: soon)
        try inspect(descriptor.raw)
        return RTMPSocket(descriptor, host: "127.0.0.1", control: control)
    }

    private func option(_ descriptor: CInt, _ level: CInt, _ name: CInt) throws -> CInt {
        var value: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        try #require(getsockopt(descriptor, level, name, &value, &length) == 0)
        return value
    }

    @Test func buffersAreBoundedAndTheKernelGivesUpInTheEnd() throws {
        let server = try ScriptedServer { $0.receiveAll() }
        _ = try socket(to: server.port, control: PublishControl(clock: MonotonicClock())) { descriptor in
            // The kernel doubles the requested size for its own bookkeeping.
            let sendBuffer = try option(descriptor, SOL_SOCKET, SO_SNDBUF)
            #expect(sendBuffer > 0 && sendBuffer <= 2 * TCPConnector.sendBufferBytes)
            let receiveBuffer = try option(descriptor, SOL_SOCKET, SO_RCVBUF)
            #expect(receiveBuffer > 0 && receiveBuffer <= 2 * TCPConnector.receiveBufferBytes)
            let userTimeout = try option(descriptor, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT)
            #expect(userTimeout == CInt(TCPConnector.leastUserTimeout.milliseconds))
            #expect(try option(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY) != 0)
        }
    }

    @Test func theKernelTellsWhatIsUnsentAndHowThePathIs() throws {
        // Without this, librtmp would log the intended failures to standard error.
        try RTMPLibrary.selfTest()
        let mayRead = Monitor(false)
        let server = try ScriptedServer { peer in
            let isTold: Bool? = mayRead.wait(until: MonotonicClock().now() + .seconds(20)) { $0 ? true : nil }
            if isTold == true { peer.receiveAll() }
        }
        let socket = try socket(to: server.port, control: PublishControl(clock: MonotonicClock()))
        #expect(socket.unsentBytes == 0 && socket.unacknowledgedBytes == 0)
        let handle = RTMPHandle(socket: socket)
        let body = [UInt8](repeating: 0, count: 65_536)
        var failure: PublishError?
        // A server that does not read accepts one window, then nothing.
        for _ in 0..<1000 where failure == nil {
            socket.limit(to: MonotonicClock().now() + .milliseconds(100))
            do { try handle.send(.dataAMF0, on: .data, body: body) } catch { failure = error }
        }
        #expect(failure?.cause == .handshakeTimeout, "\(String(describing: failure))")
        let unsent = socket.unsentBytes
        #expect(unsent > 0 && unsent <= 2 * Int(TCPConnector.sendBufferBytes))
        #expect(socket.unacknowledgedBytes >= unsent)

        mayRead.signal { $0 = true }
        try waitFor("the server to take everything", within: 30) { socket.unacknowledgedBytes == 0 }
        #expect(socket.unsentBytes == 0)
        let info = try #require(socket.tcpInfo)
        #expect(info.minimumRoundTrip > .zero)
        #expect(info.selectivelyAcknowledgedBytes == 0, "nothing was lost")
    }
}
