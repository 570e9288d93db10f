import Glibc
import LinuxSystem
import MediaCore

/// Bytes that have been read and wait for their time.
struct ByteLine {
    private var chunks: [(due: MediaTime, bytes: ArraySlice<UInt8>)] = []
    private(set) var byteCount = 0

    var nextDue: MediaTime? { chunks.first?.due }

    mutating func append(_ bytes: ArraySlice<UInt8>, due: MediaTime) {
        // With a shorter delay than before, bytes do not overtake.
        chunks.append((max(due, chunks.last?.due ?? due), bytes))
        byteCount += bytes.count
    }

    /// Writes what is due until the receiver takes no more; throws where the connection is broken.
    mutating func write(to descriptor: CInt, at now: MediaTime) throws(Errno) {
        while let (due, bytes) = chunks.first, due <= now {
            let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard count >= 0 else {
                if errno == EAGAIN || errno == EINTR { return }
                throw Errno.current
            }
            byteCount -= count
            if count == bytes.count { chunks.removeFirst() } else { chunks[0].bytes = bytes.dropFirst(count) }
        }
    }
}
