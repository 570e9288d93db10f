/// The address of a TCP server: a host, by name or IP address, and a port.
package struct ListenAddress: Equatable, Sendable, CustomStringConvertible {
    package var host: String
    package var port: Int

    /// `127.0.0.1:9180`, `[::1]:9180`, `localhost:9180`.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), isDigits(text[text.index(after: colon)...]),
            let port = Int(text[text.index(after: colon)...]), (1...65_535).contains(port)
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard !host.isEmpty, host.utf8.allSatisfy({ isWordByte($0) || $0 == 0x3A }) else { return nil }
        } else {
            guard !host.isEmpty, host.utf8.allSatisfy(isWordByte) else { return nil }
        }
        self.host = String(host)
        self.port = port
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Only this machine can connect to the address.
    package var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
}

extension ValueKind where Value == ListenAddress? {
    static var listenAddress: ValueKind {
        ValueKind(
            summary: "host:port, or \"\"",
            parse: { text throws(ValueProblem) in
                guard !text.isEmpty else { return nil }
                guard let address = ListenAddress(text) else {
                    throw ValueProblem(
                        what: "\"\(printable(text))\" is not a host and port",
                        remedy: "write an address such as \"127.0.0.1:9180\" or \"[::1]:9180\", or \"\" to disable TCP")
                }
                return address
            },
            render: { $0.map { "\"\($0)\"" } ?? "\"\"" })
    }
}
