import Glibc
import IngestProtocol
import LinuxSystem
import MediaCore

/// `paused` and `resumed`: messages without a body.
struct PlainMessage {
    let type: MessageType
    static let paused = PlainMessage(type: .paused)
    static let resumed = PlainMessage(type: .resumed)
    func encode(_ sequence: UInt32, _ bytes: inout [UInt8]) {
        BareMessage.encode(type, sequence: sequence, into: &bytes)
    }
}

/// A capture client that can also send nonsense. Blocking, for ten seconds at most: a server that says nothing fails a
/// test instead of hanging it.
final class TestClient {
    private let socket: OwnedDescriptor
    private var sequence: UInt32 = 0

    init(_ socket: consuming OwnedDescriptor) {
        self.socket = socket
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(self.socket.raw, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    func sendRaw(_ bytes: [UInt8], inPiecesOf piece: Int = .max) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(piece)
            let sent = part.withUnsafeBytes { Glibc.send(socket.raw, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    func send(inPiecesOf piece: Int = .max, _ encode: (UInt32, inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        encode(sequence, &bytes)
        sequence += 1
        sendRaw(bytes, inPiecesOf: piece)
    }

    /// Whether the server has read all that was sent.
    var isRead: Bool {
        var unread: CInt = 0
        return ioctl(socket.raw, UInt(TIOCOUTQ), &unread) == 0 && unread == 0
    }

    /// Several messages in one piece.
    func sendTogether(count: Int, _ encode: (Int, UInt32, inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        for index in 0..<count {
            encode(index, sequence, &bytes)
            sequence += 1
        }
        sendRaw(bytes)
    }

    /// A 16x16 I420 frame whose payload is `payload`.
    func sendVideo(pts: MediaTime, _ payload: [UInt8], inPiecesOf piece: Int = .max, cutTo: Int? = nil) {
        var bytes: [UInt8] = []
        VideoMessage(
            pts: pts, format: VideoSampleFormat(packed: .i420, width: 16, height: 16), orientationRaw: 1
        ).encode(sequence: sequence, payloadBytes: payload.count, into: &bytes)
        sequence += 1
        sendRaw(bytes + payload.prefix(cutTo ?? payload.count), inPiecesOf: piece)
    }

    func sendAudio(_ source: AudioSource, pts: MediaTime, _ payload: [UInt8]) {
        var bytes: [UInt8] = []
        AudioMessage(
            pts: pts, format: AudioFormat(sampleRate: 48_000, channels: 2, encoding: .int16), frames: payload.count / 4
        ).encode(source, sequence: sequence, into: &bytes)
        sequence += 1
        sendRaw(bytes + payload)
    }

    /// Offers memory.
    func share(_ memory: OfferedMemory, as pool: UInt32, byteCount: Int? = nil) throws {
        var bytes: [UInt8] = []
        SharedMemoryMessage(pool: pool, byteCount: UInt64(byteCount ?? memory.byteCount))
            .encode(sequence: sequence, into: &bytes)
        sequence += 1
        let sent = try bytes.withUnsafeBytes { try memory.send(with: $0, to: socket.raw) }
        precondition(sent == bytes.count)
    }

    /// Sends bytes, with descriptors that nobody has asked for.
    func sendRaw(_ bytes: [UInt8], with memory: OfferedMemory) throws {
        for byte in bytes { _ = try [byte].withUnsafeBytes { try memory.send(with: $0, to: socket.raw) } }
    }

    /// Sends bytes, with the last of them a descriptor; false where the other side does not take it.
    @discardableResult func sendRaw(_ bytes: [UInt8], descriptor: CInt, flags: Int = 0) -> Bool {
        // A cmsghdr, and one descriptor (cmsg(3)).
        var control: [UInt32] = [
            20, 0, UInt32(SOL_SOCKET), UInt32(SCM_RIGHTS), UInt32(bitPattern: descriptor), 0,
        ]
        var bytes = bytes
        let count = bytes.count
        return bytes.withUnsafeMutableBytes { bytes in
            control.withUnsafeMutableBytes { control in
                var vector = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                var message = withUnsafeMutablePointer(to: &vector) {
                    msghdr(
                        msg_name: nil, msg_namelen: 0, msg_iov: $0, msg_iovlen: 1, msg_control: control.baseAddress,
                        msg_controllen: control.count, msg_flags: 0)
                }
                return withExtendedLifetime(vector) { sendmsg(socket.raw, &message, CInt(MSG_NOSIGNAL) | CInt(flags)) }
                    == count
            }
        }
    }

    /// Offers what is behind a descriptor as memory.
    func share(descriptor: CInt) -> Bool {
        var bytes: [UInt8] = []
        SharedMemoryMessage(pool: 1, byteCount: 4096).encode(sequence: sequence, into: &bytes)
        sequence += 1
        return sendRaw(bytes, descriptor: descriptor)
    }

    /// A 16x16 I420 frame that lies in shared memory; returns its sequence number.
    @discardableResult
    func sendVideo(pts: MediaTime, in shared: SharedPayload, payloadBytes: Int = 0) -> UInt32 {
        send {
            VideoMessage(
                pts: pts, format: VideoSampleFormat(packed: .i420, width: 16, height: 16), orientationRaw: 1,
                shared: shared
            ).encode(sequence: $0, payloadBytes: payloadBytes, into: &$1)
        }
        return sequence - 1
    }

    func receiveReleased() throws -> UInt32? {
        guard let (header, body) = try receive(), header.type == .released else { return nil }
        return try ReleasedMessage.decode(body: body.span.bytes).sequence
    }

    /// The next message's header and body, or nil at the end of the stream. Throws where none comes.
    private func receive() throws -> (MessageHeader, [UInt8])? {
        guard let head = try read(MessageHeader.byteCount) else { return nil }
        let header = try MessageHeader.decode(head.span.bytes, limits: .default)
        guard let body = try read(header.bodyBytes) else { return nil }
        return (header, body)
    }

    func receiveType() throws -> MessageType? {
        guard let (header, _) = try receive() else { return nil }
        return header.type
    }

    func receiveErrorCode() throws -> ErrorCode? {
        guard let (header, body) = try receive(), header.type == .error else { return nil }
        return try ErrorMessage.decode(body: body.span.bytes).code
    }

    func receiveState() throws -> StateMessage? {
        guard let (header, body) = try receive(), header.type == .state else { return nil }
        return try StateMessage.decode(body: body.span.bytes)
    }

    func receiveCounters() throws -> CountersMessage? {
        guard let (header, body) = try receive(), header.type == .counters else { return nil }
        return try CountersMessage.decode(body: body.span.bytes)
    }

    private func read(_ count: Int) throws -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes { recv(socket.raw, $0.baseAddress! + filled, count - filled, 0) }
            if got < 0, errno == EAGAIN { throw Errno.current }
            guard got > 0 else { return nil }
            filled += got
        }
        return bytes
    }
}
