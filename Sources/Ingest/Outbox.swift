internal import Glibc

/// Queued messages for the client. The size is bounded, so that a client that does not read costs no memory.
///
/// Ingest thread only. Messages that do not fit are dropped. This never affects a client that reads its socket.
struct Outbox {
    /// Enough for the welcome, a goodbye and 200 events.
    static let capacity = 32 * 1024

    /// Reserved for a fatal error and the goodbye, which a slow client must also receive.
    private static let roomForLast = 2 * (1024 + 64)

    private var bytes: [UInt8] = []
    private var sent = 0

    init() { bytes.reserveCapacity(Self.capacity) }

    var isEmpty: Bool { sent == bytes.count }

    /// Appends one encoded message. Returns false if it does not fit; then it is dropped.
    mutating func append(_ message: [UInt8], isLast: Bool) -> Bool {
        let room = isLast ? Self.capacity : Self.capacity - Self.roomForLast
        guard bytes.count - sent + message.count <= room else { return false }
        if sent > 0 {
            bytes.removeFirst(sent)
            sent = 0
        }
        bytes += message
        return true
    }

    /// Sends as much as the socket accepts. Returns false if the peer is gone.
    mutating func flush(to socket: CInt) -> Bool {
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe send(
                    socket, buffer.baseAddress! + sent, buffer.count - sent, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
            }
            if count > 0 {
                sent += count
            } else if errno == EINTR {
                continue
            } else {
                return errno == EAGAIN
            }
        }
        bytes.removeAll(keepingCapacity: true)
        sent = 0
        return true
    }
}
