internal import Glibc

/// Messages on their way to the client: bounded, so that a client that does not read cannot make the daemon grow.
///
/// Ingest thread only. What does not fit is dropped; a client that reads its socket never sees that.
struct Outbox {
    /// More than the welcome, a goodbye and two hundred events.
    static let capacity = 32 * 1024

    /// Of these, kept free for a fatal error and the goodbye, which a client that was slow to read must get, too.
    private static let roomForLast = 2 * (1024 + 64)

    private var bytes: [UInt8] = []
    private var sent = 0

    init() { bytes.reserveCapacity(Self.capacity) }

    var isEmpty: Bool { sent == bytes.count }

    /// Appends one encoded message, or drops it whole and says false.
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

    /// Sends what the socket takes now; false when the peer is gone.
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
