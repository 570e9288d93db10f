import Glibc
import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport

/// A daemon of a few lines: takes one connection at a socket of its own and does what its script says.
final class TestDaemon: Sendable {
    private let folder: TemporaryDirectory
    var path: String { folder.file("socket") }
    private let thread: WorkerThread
    private let connection = Monitor<Peer?>(nil)

    /// - Parameter script: runs on a thread of its own; the connection closes when it returns.
    init(_ script: @escaping @Sendable (Peer) throws -> Void) throws {
        folder = try TemporaryDirectory("client")
        let path = folder.file("socket")
        let listener = try UnixSocket.listen(path: path, mode: 0o600).relinquish()
        thread = try WorkerThread(name: "test-daemon") { [connection] in
            let listener = OwnedDescriptor(listener)
            var waiting = pollfd(fd: listener.raw, events: Int16(POLLIN), revents: 0)
            poll(&waiting, 1, 10_000)
            if let accepted = try? UnixSocket.accept(listener) {
                let peer = Peer(accepted.relinquish())
                connection.withLock { $0 = peer }
                try? script(peer)
                // Closing is not enough: a process that another test starts has the descriptor, too, until its exec.
                peer.hangUp()
                connection.withLock { $0 = nil }
            }
            unlink(path)
        }
    }

    /// Waits until the script has ended.
    func join() { thread.join() }

    /// A test that throws leaves the script where it is.
    deinit {
        connection.withLock { $0?.hangUp() }
        thread.join()
    }
}

/// The daemon's end of a connection.
final class Peer: @unchecked Sendable /* used by the daemon's thread; the record is read after it was joined */ {
    struct Message {
        let header: MessageHeader
        let body: [UInt8]
        let payload: [UInt8]
    }

    private let socket: OwnedDescriptor
    private var state = SessionState()
    private var sequence: UInt32 = 0

    init(_ raw: CInt) {
        socket = OwnedDescriptor(raw)
        // Scripts read in order and wait; the listener hands out non-blocking sockets.
        _ = fcntl(raw, F_SETFL, fcntl(raw, F_GETFL) & ~O_NONBLOCK)
    }

    struct Ended: Error {}

    /// The next message, whose order and sequence number have been checked.
    func read() throws -> Message {
        let head = try bytes(MessageHeader.byteCount)
        let header = try MessageHeader.decode(head.span.bytes, limits: .default)
        _ = try state.admit(header)
        return Message(header: header, body: try bytes(header.bodyBytes), payload: try bytes(header.payloadBytes))
    }

    /// Reads `started` and answers it.
    func welcome(
        limits: IngestLimits = .default, sharedMemory: SharedMemoryOffer? = nil, takesDamage: Bool = false
    ) throws {
        _ = try read()
        send {
            WelcomeMessage(
                limits: limits, canvasWidth: 1280, canvasHeight: 720, frameRate: FrameRate(30), audioRate: 48_000,
                broadcastID: "test", sharedMemory: sharedMemory, takesDamage: takesDamage
            ).encode(sequence: $0, into: &$1)
        }
    }

    func send(_ encode: (UInt32, inout [UInt8]) -> Void) {
        var message: [UInt8] = []
        encode(sequence, &message)
        sequence += 1
        write(message)
    }

    func write(_ data: [UInt8]) {
        data.withUnsafeBytes { _ = Glibc.send(socket.raw, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
    }

    func hangUp() { shutdown(socket.raw, CInt(SHUT_RDWR)) }

    func goodbye(taken: UInt64 = 0) {
        send {
            GoodbyeMessage(.finished, text: "all sent", framesTaken: taken, framesDropped: 0, audioSamples: 0)
                .encode(sequence: $0, into: &$1)
        }
    }

    private func bytes(_ count: Int) throws -> [UInt8] {
        // Reading nothing from a stream waits for something.
        guard count > 0 else { return [] }
        var data = [UInt8](repeating: 0, count: count)
        let received = data.withUnsafeMutableBytes {
            recv(socket.raw, $0.baseAddress, $0.count, CInt(MSG_WAITALL))
        }
        guard received == count else { throw Ended() }
        return data
    }
}

/// A list that one thread fills and another reads.
final class Record<Element: Sendable>: Sendable {
    private let items = Monitor<[Element]>([])
    func append(_ item: Element) { items.withLock { $0.append(item) } }
    var all: [Element] { items.withLock { $0 } }
}
