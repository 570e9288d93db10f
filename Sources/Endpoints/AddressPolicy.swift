/// Decides which addresses the daemon may connect to: public ones, and private ones that are listed.
///
/// The caller checks the resolved address that it connects to, so that a name server cannot direct the daemon to
/// another one.
package struct AddressPolicy: Sendable, Equatable {
    /// Private addresses that are allowed.
    package private(set) var ranges: [AddressRange] = []
    /// Names whose private addresses are allowed, in lower case.
    package private(set) var hosts: [String] = []
    /// The items as they were written.
    package private(set) var items: [String] = []

    package init() {}

    /// Adds an address, a range (`10.0.0.0/8`) or a host name. Returns false if it is none of them.
    package mutating func allow(_ item: String) -> Bool {
        if let range = AddressRange(item) {
            ranges.append(range)
        } else {
            let isName = item.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
            // A wrong address must not pass as a name.
            let isNumber = item.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
            guard isName, !isNumber, (1...253).contains(item.utf8.count) else { return false }
            hosts.append(item.lowercased())
        }
        items.append(item)
        return true
    }

    /// Why a connection is refused; nil if it is allowed.
    ///
    /// - Parameters:
    ///   - address: the address that will be connected to.
    ///   - host: the host of the URL.
    package func refusal(of address: IPAddress, for host: String) -> String? {
        let meant = address.embedded
        guard let kind = Self.kind(of: meant) else { return nil }
        // No HTTP server can have these addresses.
        guard kind != Self.noHost else { return kind }
        if ranges.contains(where: { $0.contains(meant) || $0.contains(address) }) { return nil }
        // A metadata server gives the machine's credentials to any client, so its address itself must be listed.
        guard kind != Self.metadata, hosts.contains(host.lowercased()) else { return kind }
        return nil
    }

    private static let noHost = "no host's address"
    private static let metadata = "the address of a cloud's metadata server"

    /// The kind of an address that is not public; nil for a public one.
    private static func kind(of address: IPAddress) -> String? {
        table.first { entry in entry.ranges.contains { $0.contains(address) } }?.kind
    }

    /// The first match counts. The ranges are from IANA's registries of special addresses (RFC 6890).
    private static let table: [(kind: String, ranges: [AddressRange])] = [
        (noHost, ["0.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4", "::/128", "ff00::/8"]),
        (metadata, ["169.254.169.254", "169.254.170.2", "fd00:ec2::254", "100.100.100.200", "192.0.0.192"]),
        ("a loopback address", ["127.0.0.0/8", "::1"]),
        ("a link-local address", ["169.254.0.0/16", "fe80::/10"]),
        (
            "a private address",
            ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "192.0.0.0/24", "198.18.0.0/15", "fc00::/7", "fec0::/10"]
        ),
        ("an address of a carrier's network (RFC 6598)", ["100.64.0.0/10"]),
        ("an address for documentation", ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"]),
        ("a reserved address", ["::/8", "100::/64", "64:ff9b:1::/48", "2001::/23"]),
    ].map { kind, texts in (kind, texts.compactMap { AddressRange($0) }) }
}
