import Foundation
import Glibc
import IngestProtocol
import LinuxSystem
import MediaCore
import TestLimits
import Testing

/// Descriptors whose close waits for as long as their sender likes: the ingest thread never does.
@Suite(.endsWithin(60)) struct HangingDescriptorTests {
    private static let linger: CInt = 30

    /// A TCP socket whose last close waits `linger` seconds, because its peer reads nothing.
    private final class LingeringSocket {
        private(set) var raw: CInt
        private let peer: CInt

        init() throws {
            let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            Self.set(SO_RCVBUF, CInt(4096), of: listener)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            raw = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            Self.set(SO_SNDBUF, CInt(4096), of: raw)
            let raw = raw
            try withUnsafeMutableBytes(of: &address) { bytes in
                let address = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
                try #require(bind(listener, address, length) == 0 && listen(listener, 1) == 0)
                try #require(getsockname(listener, address, &length) == 0)
                try #require(connect(raw, address, length) == 0)
            }
            peer = accept(listener, nil, nil)
            let bytes = [UInt8](repeating: 0, count: 65536)
            var descriptor = pollfd(fd: raw, events: Int16(POLLOUT), revents: 0)
            // Until nothing has gone on for a while: the kernel moves bytes to the peer for as long as it has room.
            while poll(&descriptor, 1, 200) == 1 { _ = send(raw, bytes, bytes.count, CInt(MSG_DONTWAIT)) }
            Self.set(SO_LINGER, Glibc.linger(l_onoff: 1, l_linger: HangingDescriptorTests.linger), of: raw)
        }

        private static func set<Value>(_ option: CInt, _ value: Value, of socket: CInt) {
            withUnsafeBytes(of: value) {
                _ = setsockopt(socket, SOL_SOCKET, option, $0.baseAddress, socklen_t($0.count))
            }
        }

        /// Leaves the last reference to who has received it, or has not yet.
        func letGo() {
            // Two who close at once would not find out which was last.
            close(raw)
            raw = -1
        }

        deinit {
            // Ends the wait of whoever closes it.
            close(peer)
            if raw >= 0 { close(raw) }
        }
    }

    private func start(_ connect: () throws -> TestClient) throws -> TestClient {
        let client = try connect()
        client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
        #expect(try client.receiveType() == .welcome)
        return client
    }

    private func expectAnswer(to client: TestClient) throws {
        client.send { SharedMemoryMessage(pool: 9, byteCount: 4096).encode(sequence: $0, into: &$1) }
        #expect(try client.receiveErrorCode() == .badSharedMemory)
    }

    private func expectNoWait(_ body: () throws -> Void) throws {
        let begin = MonotonicClock().now()
        try body()
        let took = MonotonicClock().now() - begin
        #expect(took < .seconds(Int64(Self.linger / 2)), "the ingest thread has waited in close")
    }

    @Test func oneThatIsSharedAsMemory() throws {
        try withServer(RecordingConsumer()) { _, connect in
            let client = try start(connect)
            let socket = try LingeringSocket()
            try expectNoWait {
                #expect(client.share(descriptor: socket.raw))
                socket.letGo()
                #expect(try client.receiveErrorCode() == .badSharedMemory)
                try expectAnswer(to: client)
            }
        }
    }

    /// In a payload, where none is looked for.
    @Test func oneThatNobodyAskedFor() throws {
        try withServer(RecordingConsumer()) { _, connect in
            let client = try start(connect)
            let socket = try LingeringSocket()
            try expectNoWait {
                client.sendVideo(pts: .zero, [UInt8](repeating: 5, count: 384), cutTo: 383)
                #expect(client.sendRaw([5], descriptor: socket.raw))
                socket.letGo()
                try expectAnswer(to: client)
            }
        }
    }

    /// An out-of-band byte brings its descriptor like any other. (Where the kernel knows none, there is none to close.)
    @Test func oneThatComesOutOfBand() throws {
        try withServer(RecordingConsumer()) { _, connect in
            let client = try start(connect)
            let socket = try LingeringSocket()
            try expectNoWait {
                client.sendVideo(pts: .zero, [UInt8](repeating: 5, count: 384), cutTo: 383)
                if !client.sendRaw([5], descriptor: socket.raw, flags: Int(MSG_OOB)) { client.sendRaw([5]) }
                socket.letGo()
                try expectAnswer(to: client)
            }
        }
    }

    /// Nobody reads what a client has sent that is turned away: it is closed with its connection.
    @Test func oneOfAClientThatIsTurnedAway() throws {
        try withServer(RecordingConsumer()) { _, connect in
            let client = try start(connect)
            let socket = try LingeringSocket()
            try expectNoWait {
                // Between connect and accept there is time to send it, in one of the tries at least.
                for _ in 0..<50 { try connect().sendRaw([1], descriptor: socket.raw) }
                socket.letGo()
                try expectAnswer(to: client)
            }
        }
    }

    /// What hangs is bounded: a client that sends more is sent away, and the next one waits until something is closed.
    @Test func noMoreThanABoundHangs() throws {
        let isHanging = Monitor(true)
        let closed = Monitor(0)
        let closer = DescriptorCloser { raw in
            _ = isHanging.wait { $0 ? nil : true }
            close(raw)
            closed.signal { $0 += 1 }
        }
        let logged = Monitor<[String]>([])
        let server: (RecordingConsumer, () throws -> TestClient) throws -> Void = { _, connect in
            defer { isHanging.signal { $0 = false } }
            let client = try start(connect)
            let null = OwnedDescriptor(open("/dev/null", O_RDONLY))
            // Pictures, with a descriptor at each byte, until the daemon has closed.
            sending: for _ in 0..<4 {
                client.sendVideo(pts: .zero, [UInt8](repeating: 5, count: 384), cutTo: 0)
                for _ in 0..<384 where !client.sendRaw([5], descriptor: null.raw) { break sending }
            }
            #expect(try client.receiveErrorCode() == .badSharedMemory)
            #expect(try client.receiveType() == .goodbye, "the client is sent away")
            #expect(try client.receiveType() == nil)
            let next = try connect()
            next.send { StartedMessage(clientName: "n", convention: .exif).encode(sequence: $0, into: &$1) }
            let wait = MonotonicClock().now() + .seconds(30)
            #expect(logged.wait(until: wait) { $0.contains { $0.contains("close(2)") } ? true : nil } == true)
            isHanging.signal { $0 = false }
            #expect(try next.receiveType() == .welcome)
            #expect(closed.wait(until: wait) { $0 > DescriptorCloser.capacity ? true : nil } == true)
        }
        try withServer(RecordingConsumer(), closer: closer, log: { line in logged.signal { $0.append(line) } }, server)
    }
}
