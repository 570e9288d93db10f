import Foundation
import Glibc
package import IngestProtocol
package import LinuxSystem
package import MediaCore

/// A capture client for tests: speaks the wire protocol well, or as badly as a test wants.
///
/// One thread sends. Another thread reads replies from the start, so that a full socket never blocks the daemon.
package final class CaptureClient: @unchecked Sendable /* all but the descriptor and the inbox is the sender's */ {
    package enum Reply: Sendable {
        case welcome(WelcomeMessage)
        case state(StateMessage)
        case error(ErrorMessage)
        case goodbye(GoodbyeMessage)
    }
    private struct Inbox {
        var replies: [Reply] = []
        /// Set when the daemon has closed the connection, or sent an unreadable message.
        var end: String?
    }

    private let connection: OwnedDescriptor
    private let inbox = Monitor(Inbox())
    /// The number of pictures that were sent.
    package private(set) var samplesSent = 0
    /// The number of the next message.
    package private(set) var sequence: UInt32 = 0

    /// Connects, without sending anything yet.
    package init(socket: String) throws {
        connection = try UnixSocket.connect(path: socket)
        // A daemon that stops reading fails a test instead of hanging it.
        var limit = timeval(tv_sec: Int(Patience.scaled(15)), tv_usec: 0)
        setsockopt(connection.raw, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let (descriptor, inbox) = (dup(connection.raw), inbox)
        Thread.detachNewThread {
            let owned = OwnedDescriptor(descriptor)
            let end: String
            do { end = try Self.receive(owned.raw, into: inbox) } catch { end = "\(error)" }
            inbox.signal { $0.end = end }
        }
    }

    deinit { shutdown(connection.raw, CInt(SHUT_RDWR)) }

    // MARK: Sending

    /// Sends `started` and waits for the welcome.
    @discardableResult
    package func start(
        _ convention: OrientationConvention = .exif, name: String = "end-to-end test",
        source: SourceKind = .screen, tracks: StartedMessage.Tracks = [.video, .audioApp, .audioMic]
    ) throws -> WelcomeMessage {
        let message = StartedMessage(clientName: name, convention: convention, source: source, tracks: tracks)
        try send { message.encode(sequence: $0, into: &$1) }
        return try waitForReply("a welcome") { if case .welcome(let welcome) = $0 { welcome } else { nil } }
    }

    package func send(
        _ sample: RawSample, pts: MediaTime, orientation: OrientationTag? = .up,
        hiding regions: SecureRegions = SecureRegions()
    ) throws {
        var message = VideoMessage(pts: pts, format: sample.format, orientation: orientation)
        message.regions = regions
        try send { message.encode(sequence: $0, payloadBytes: sample.payload.count, into: &$1) }
        try sendRaw(sample.payload)
        samplesSent += 1
    }

    /// Sends a picture with a list of secure regions that the protocol does not know. The daemon refuses it, and it
    /// does not count in `samplesSent`.
    ///
    /// - Parameter lyingOfLength: whether the list's length is wrong: it ends within the message, but not where its
    ///   extension says.
    package func sendWithBadRegions(_ sample: RawSample, pts: MediaTime, lyingOfLength: Bool = false) throws {
        var message = VideoMessage(pts: pts, format: sample.format, orientation: .up)
        message.regions.coversAll = true
        try send { sequence, bytes in
            message.encode(sequence: sequence, payloadBytes: sample.payload.count, into: &bytes)
            // The list is at the end of the message: its length, its number, and its flags.
            if lyingOfLength { bytes[bytes.count - 6] = 100 } else { bytes[bytes.count - 2] |= 0x80 }
        }
        try sendRaw(sample.payload)
    }

    package func send(_ source: AudioSource, _ block: RawSound, pts: MediaTime) throws {
        let message = AudioMessage(pts: pts, format: block.format, frames: block.frames)
        try send { message.encode(source, sequence: $0, into: &$1) }
        try sendRaw(block.payload)
    }

    package func sendPaused() throws { try send { BareMessage.encode(.paused, sequence: $0, into: &$1) } }
    package func sendResumed() throws { try send { BareMessage.encode(.resumed, sequence: $0, into: &$1) } }

    /// Sends both messages in one piece, so that the daemon reads them in one go.
    package func sendPausedAndResumed() throws {
        var bytes: [UInt8] = []
        BareMessage.encode(.paused, sequence: sequence, into: &bytes)
        BareMessage.encode(.resumed, sequence: sequence &+ 1, into: &bytes)
        sequence &+= 2
        try sendRaw(bytes)
    }

    /// Offers shared memory for pictures.
    package func share(_ memory: OfferedMemory, as pool: UInt32) throws {
        var bytes: [UInt8] = []
        SharedMemoryMessage(pool: pool, byteCount: UInt64(memory.byteCount)).encode(sequence: sequence, into: &bytes)
        sequence &+= 1
        let sent = try bytes.withUnsafeBytes { try memory.send(with: $0, to: connection.raw) }
        try sendRaw(Array(bytes[sent...]))
    }

    /// Sends `paused` or `resumed` with a critical extension that no daemon knows, so that it is refused.
    package func sendRefused(_ type: MessageType) throws {
        try send {
            MessageHeader(type: type, bodyBytes: 4, sequence: $0).encode(into: &$1)
            $1 += [0x99, 0x80, 0, 0]
        }
    }

    /// Sends `finished`, and waits until the daemon has sent a goodbye and closed the connection.
    @discardableResult
    package func finish(within seconds: Double = 20) throws -> GoodbyeMessage {
        try send { FinishedMessage(reason: .sourceEnded).encode(sequence: $0, into: &$1) }
        let goodbye = try waitForReply("a goodbye", within: seconds) {
            if case .goodbye(let goodbye) = $0 { goodbye } else { nil }
        }
        try waitForEnd()
        return goodbye
    }

    /// Sends a message built by `encode`, which receives its sequence number.
    package func send(_ encode: (UInt32, inout [UInt8]) -> Void) throws {
        var bytes: [UInt8] = []
        encode(sequence, &bytes)
        sequence &+= 1
        try sendRaw(bytes)
    }

    /// Sends bytes unchanged.
    package func sendRaw(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(connection.raw, $0.baseAddress! + sent, $0.count - sent, CInt(MSG_NOSIGNAL))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw Errno.current }
            sent += count
        }
    }

    /// Closes the sending side, and continues to read.
    package func closeSending() { shutdown(connection.raw, CInt(SHUT_WR)) }

    // MARK: Replies

    package var replies: [Reply] { inbox.withLock { $0.replies } }
    package var errors: [ErrorMessage] {
        inbox.withLock { $0.replies.compactMap { if case .error(let error) = $0 { error } else { nil } } }
    }
    package func hasSaid(_ state: BroadcastState) -> Bool {
        inbox.withLock {
            $0.replies.contains { if case .state(let message) = $0 { message.state == state } else { false } }
        }
    }

    /// Waits for the first reply for which `match` returns a value. Throws if the daemon closes the connection or time
    /// is over.
    package func waitForReply<Value>(
        _ what: String, within seconds: Double = 15, _ match: (Reply) -> Value?
    ) throws -> Value {
        let deadline = Patience.deadline(seconds)
        let found: Value?? = inbox.wait(until: deadline) { inbox in
            if let value = inbox.replies.lazy.compactMap(match).first { return .some(value) }
            return inbox.end == nil ? nil : .some(nil)
        }
        guard let value = found ?? nil else {
            throw TestFailure(
                "no \(what) within \(Patience.scaled(seconds)) s; the daemon said \(inbox.withLock { $0 })")
        }
        return value
    }

    /// Waits until the daemon has closed the connection.
    package func waitForEnd(within seconds: Double = 15) throws {
        let deadline = Patience.deadline(seconds)
        guard inbox.wait(until: deadline, { $0.end }) != nil else {
            throw TestFailure("the daemon did not close within \(Patience.scaled(seconds)) s; it said \(replies)")
        }
    }

    /// Reads messages until the other side closes; returns why reading ended.
    private static func receive(_ descriptor: CInt, into inbox: Monitor<Inbox>) throws -> String {
        while let head = try read(descriptor, MessageHeader.byteCount) {
            let header = try MessageHeader.decode(head.span.bytes, limits: .default)
            guard let body = try read(descriptor, header.bodyBytes), try read(descriptor, header.payloadBytes) != nil
            else { return "closed inside a message" }
            let reply: Reply? =
                switch header.type {
                case .welcome: .welcome(try WelcomeMessage.decode(body: body.span.bytes))
                case .state: .state(try StateMessage.decode(body: body.span.bytes))
                case .error: .error(try ErrorMessage.decode(body: body.span.bytes))
                case .goodbye: .goodbye(try GoodbyeMessage.decode(body: body.span.bytes))
                default: nil
                }
            if let reply { inbox.signal { $0.replies.append(reply) } }
        }
        return "closed"
    }

    private static func read(_ descriptor: CInt, _ count: Int) throws -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress! + filled, count - filled, 0) }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw Errno.current }
            if got == 0 { return nil }
            filled += got
        }
        return bytes
    }
}
