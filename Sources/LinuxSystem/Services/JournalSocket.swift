internal import Glibc

/// One entry of the systemd journal, in its native protocol (https://systemd.io/JOURNAL_NATIVE_PROTOCOL): fields, each
/// with a name and a value. `journalctl NAME=VALUE` finds entries by them.
package struct JournalEntry: Sendable {
    /// The longest value; the rest is cut off. One entry fits into a datagram.
    package static let maxValueBytes = 4096

    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Adds a field. A name may occur several times. A name that the journal does not take is left out: names have
    /// letters, digits and `_`, and begin with a letter (those with `_` are journald's own).
    ///
    /// - Parameter name: is put into upper case.
    package mutating func add(_ name: String, _ value: String) {
        let name = name.uppercased()
        guard (1...64).contains(name.utf8.count), (0x41...0x5A).contains(name.utf8.first ?? 0),
            name.utf8.allSatisfy({ (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F })
        else { return }
        bytes += name.utf8
        var value = Array(value.utf8.prefix(Self.maxValueBytes))
        // Keeps the value valid UTF-8 if the cut is inside a character.
        if value.count == Self.maxValueBytes { value = Array(String(decoding: value, as: UTF8.self).utf8) }
        if value.contains(0x0A) {
            // A line break would begin another field, so the length precedes such a value.
            bytes.append(0x0A)
            let count = UInt64(value.count)
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: count >> shift))
            }
        } else {
            bytes.append(0x3D)
        }
        bytes += value
        bytes.append(0x0A)
    }
}

/// The socket of the systemd journal. Any thread; nothing blocks.
package final class JournalSocket: Sendable {
    package static let path = "/run/systemd/journal/socket"

    private let descriptor: OwnedDescriptor
    private let address: UnixAddress

    /// - Parameter path: journald's socket. It need not exist: each entry looks it up again.
    /// - Throws: if no socket can be created.
    package init(path: String = JournalSocket.path) throws(Errno) {
        guard let address = UnixAddress(path: path) else { throw Errno(ENAMETOOLONG) }
        self.address = address
        descriptor = try OwnedDescriptor(
            checking: socket(
                AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0))
    }

    /// Sends an entry as one datagram. Returns false if journald does not take it now: its queue is full, it is not
    /// there, or the datagram is too large.
    package func send(_ entry: JournalEntry) -> Bool {
        let bytes = entry.bytes
        let sent = unsafe address.withSocketAddress { address, length in
            CInt(
                unsafe bytes.withUnsafeBytes { buffer in
                    unsafe sendto(
                        descriptor.raw, buffer.baseAddress, buffer.count, CInt(MSG_NOSIGNAL), address, length)
                })
        }
        return sent == CInt(bytes.count)
    }
}
