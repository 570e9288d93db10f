internal import Glibc

/// The address of a Unix socket: a path, or a name in the abstract namespace (unix(7)).
struct UnixAddress {
    private var address = sockaddr_un()
    private var length = socklen_t(0)

    /// Nil if `path` is longer than `UnixSocket.maxPathBytes`.
    init?(path: String) {
        guard path.utf8.count <= UnixSocket.maxPathBytes else { return nil }
        fill(Array(path.utf8))
        length = socklen_t(MemoryLayout<sockaddr_un>.size)
    }

    /// An abstract name begins with a zero byte. It ends with the address's length, because trailing zero bytes would
    /// count.
    init?(abstractName name: Substring) {
        guard !name.isEmpty, name.utf8.count <= UnixSocket.maxPathBytes else { return nil }
        fill([0] + Array(name.utf8))
        length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
    }

    private mutating func fill(_ bytes: [UInt8]) {
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { buffer in unsafe buffer.copyBytes(from: bytes) }
    }

    /// Passes the address to bind(2) or connect(2).
    func withSocketAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }

    /// The address of a bound socket: a path, or `@` and an abstract name; nil for none.
    static func text(ofSocket descriptor: CInt) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        let count = Int(length) - MemoryLayout<sa_family_t>.size
        guard result == 0, address.sun_family == sa_family_t(AF_UNIX), count > 0 else { return nil }
        let bytes = unsafe withUnsafeBytes(of: address.sun_path) { unsafe Array($0.prefix(count)) }
        if bytes[0] == 0 { return "@" + String(decoding: bytes.dropFirst(), as: UTF8.self) }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
