internal import Endpoints
internal import Glibc

/// An IPv4 or IPv6 address with its port.
struct SocketAddress: Sendable, Equatable, CustomStringConvertible {
    enum Family: Sendable { case v4, v6 }

    let family: Family
    /// The bytes of a `sockaddr_in` or `sockaddr_in6`.
    private let bytes: [UInt8]
    /// "192.0.2.1 port 1935", "2001:db8::1 port 1935".
    let description: String

    /// Copies an address from getaddrinfo. Returns nil for other families.
    init?(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
        switch unsafe Int32(address.pointee.sa_family) {
        case AF_INET: family = .v4
        case AF_INET6: family = .v6
        default: return nil
        }
        bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: address, count: Int(length)))
        var host = [CChar](repeating: 0, count: 64)
        var port = [CChar](repeating: 0, count: 8)
        let named = unsafe getnameinfo(
            address, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
            NI_NUMERICHOST | NI_NUMERICSERV)
        let text = { (characters: [CChar]) in
            String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        description = named == 0 ? "\(text(host)) port \(text(port))" : "an unreadable address"
    }

    /// The address without its port.
    var ip: IPAddress? {
        let place =
            switch family {
            case .v4: MemoryLayout<sockaddr_in>.offset(of: \.sin_addr) ?? 0
            case .v6: MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) ?? 0
            }
        return IPAddress(bytes: Array(bytes.dropFirst(place).prefix(family == .v4 ? 4 : 16)))
    }

    /// The peer of a connected socket; nil if it is no longer connected.
    init?(peerOf descriptor: CInt) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let found: SocketAddress? = unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe getpeername(descriptor, address, &length) == 0 else { return nil }
                return unsafe SocketAddress(address, length: length)
            }
        }
        guard let found else { return nil }
        self = found
    }

    /// Passes the address to a C function. The pointer is valid during the call.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe body(buffer.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(buffer.count))
        }
    }

    /// The order in which addresses are tried. Families alternate, so that a broken one costs one attempt. Within a
    /// family, the resolver's order (RFC 6724) stays. The resolver's first choice is first.
    static func alternating(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard let first = addresses.first else { return [] }
        let preferred = addresses.filter { $0.family == first.family }
        let others = addresses.filter { $0.family != first.family }
        var result: [SocketAddress] = []
        for index in 0..<max(preferred.count, others.count) {
            if index < preferred.count { result.append(preferred[index]) }
            if index < others.count { result.append(others[index]) }
        }
        return result
    }
}
