/// An IPv4 or IPv6 address, without a port.
package struct IPAddress: Sendable, Equatable {
    /// 4 or 16 bytes in network order.
    package let bytes: [UInt8]

    /// - Returns: nil unless there are 4 or 16 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// `192.0.2.1`, or an IPv6 address without brackets and zone, in any of the forms of RFC 4291.
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        guard let bytes = text.contains(":") ? Self.version6(text) : Self.version4(text) else { return nil }
        self.bytes = bytes
    }

    /// The IPv4 address that an IPv6 address stands for: mapped (::ffff:a.b.c.d), compatible (::a.b.c.d), NAT64
    /// (64:ff9b::/96) or 6to4 (2002::/16). Otherwise the address itself.
    package var embedded: IPAddress {
        guard bytes.count == 16 else { return self }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        // ::1 and :: are not compatible addresses.
        let isCompatible = bytes[..<12].allSatisfy { $0 == 0 } && bytes[12] != 0
        let isNAT64 = bytes[..<12] == [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]
        if isMapped || isCompatible || isNAT64 { return IPAddress(version4: bytes[12...]) }
        if bytes[0] == 0x20, bytes[1] == 0x02 { return IPAddress(version4: bytes[2..<6]) }
        return self
    }

    private init(version4 slice: ArraySlice<UInt8>) { bytes = Array(slice) }

    private static func version4(_ text: some StringProtocol) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            // A leading zero means octal to some programs.
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                part == "0" || !part.hasPrefix("0"), let byte = UInt8(part)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private static func version6(_ text: String) -> [UInt8]? {
        guard let gap = text.firstRange(of: "::") else {
            return groups(text[...]).flatMap { $0.count == 16 ? $0 : nil }
        }
        guard let head = groups(text[..<gap.lowerBound]), let tail = groups(text[gap.upperBound...]),
            head.count + tail.count <= 14
        else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    /// Groups between colons; the last may be an IPv4 address.
    private static func groups(_ text: Substring) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var bytes: [UInt8] = []
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains(".") {
                guard let last = version4(part) else { return nil }
                bytes += last
                continue
            }
            guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ $0 != 0x2B }),
                let group = UInt16(part, radix: 16)
            else { return nil }
            bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
        }
        return bytes
    }
}

/// Addresses with the same first bits: `10.0.0.0/8`, `fd00::/8`.
package struct AddressRange: Sendable, Equatable {
    private let first: IPAddress
    private let bits: Int

    /// Parses an address, or an address with a prefix length. Bits behind the prefix are ignored.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let first = IPAddress(parts[0]) else { return nil }
        let most = first.bytes.count * 8
        var bits = most
        if parts.count == 2 {
            guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(parts[1]), number <= most
            else { return nil }
            bits = number
        }
        (self.first, self.bits) = (first, bits)
    }

    package func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == first.bytes.count else { return false }
        let (whole, rest) = (bits / 8, bits % 8)
        guard address.bytes[..<whole] == first.bytes[..<whole] else { return false }
        guard rest > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> rest)
        return address.bytes[whole] & mask == first.bytes[whole] & mask
    }
}
