internal import Wording

/// The parts of a URL that all schemes have in common.
struct URLParts {
    var isSecure: Bool
    var host: String
    /// Nil if the URL has none.
    var port: UInt16?
    var userInfo: Secret?
    /// The rest of the URL after host and port.
    var rest: String

    /// Whether a URL has this scheme, with or without an `s` at its end. The rest of the URL is not checked.
    static func hasScheme(_ scheme: String, _ url: String) -> Bool {
        url.withoutPrefix(scheme + "://") != nil || url.withoutPrefix(scheme + "s://") != nil
    }

    /// - Parameter scheme: the scheme without TLS. With an `s` at its end, it is the one with TLS.
    init(_ url: String, scheme: String) throws(RTMPEndpointError) {
        guard url.utf8.count <= RTMPEndpoint.maximumBytes else { throw .tooLong }
        guard url.unicodeScalars.allSatisfy({ $0 != " " && !$0.isControlOrFormat }) else { throw .badCharacter }
        var rest: Substring
        if let after = url.withoutPrefix(scheme + "://") {
            (isSecure, rest) = (false, after)
        } else if let after = url.withoutPrefix(scheme + "s://") {
            (isSecure, rest) = (true, after)
        } else {
            throw .unknownScheme
        }
        let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        var authority = rest[..<authorityEnd]
        self.rest = String(rest[authorityEnd...])

        if let at = authority.lastIndex(of: "@") {
            userInfo = Secret(String(authority[..<at]))
            authority = authority[authority.index(after: at)...]
        }
        var portText: Substring?
        if authority.hasPrefix("[") {
            guard let close = authority.firstIndex(of: "]") else { throw .badHost }
            host = String(authority[authority.index(after: authority.startIndex)..<close])
            guard host.contains(":"), host.allSatisfy({ Self.isAddressCharacter($0) }) else { throw .badHost }
            let after = authority[authority.index(after: close)...]
            guard after.isEmpty || after.hasPrefix(":") else { throw .badHost }
            if !after.isEmpty { portText = after.dropFirst() }
        } else {
            let pieces = authority.split(separator: ":", omittingEmptySubsequences: false)
            guard pieces.count <= 2, pieces[0].utf8.count <= 253, !pieces[0].isEmpty,
                pieces[0].utf8.allSatisfy({ Self.isNameByte($0) })
            else { throw .badHost }
            host = String(pieces[0])
            if pieces.count == 2 { portText = pieces[1] }
        }
        if let portText {
            // UInt16's own parser would accept "+80".
            guard portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(portText), number > 0
            else { throw .badPort }
            port = number
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }

    /// Hexadecimal digits, colons, an embedded IPv4 address, and a zone ("fe80::1%eth0").
    private static func isAddressCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || ":.%-_".contains(character))
    }
}

extension String {
    fileprivate func withoutPrefix(_ prefix: String) -> Substring? {
        // The scheme is case-insensitive, the rest is not.
        guard utf8.count >= prefix.utf8.count, self.prefix(prefix.count).lowercased() == prefix else { return nil }
        return dropFirst(prefix.count)
    }
}
