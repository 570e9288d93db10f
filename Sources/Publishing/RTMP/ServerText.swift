internal import Endpoints
internal import Wording

/// Text from a server, made safe to show: limited in length, printable, and without the publisher's secrets.
struct ServerText {
    static let maximumCharacters = 200

    let shown: String

    /// - Parameter login: the query with which the publisher logged in.
    init(_ text: String, hiding settings: RTMPDestinationSettings, login: String = "") {
        var secrets = [settings.key.revealed, Self.beforeQuery(settings.key.revealed)]
        secrets += Self.values(settings.key.revealed)
        if let user = settings.endpoint.userInfo { secrets += user.revealed.split(separator: ":").map(String.init) }
        if let credentials = settings.credentials {
            secrets += [credentials.user.revealed, credentials.password.revealed]
        }
        secrets += login.split(separator: "&").filter { $0.hasPrefix("response=") }.map { String($0.dropFirst(9)) }
        let app = settings.endpoint.app
        let query = String(app.dropFirst(Self.beforeQuery(app).count + 1))
        secrets += [query] + Self.values(query)
        // Servers quote what they received, sometimes in another encoding.
        let bytes = Self.masking(secrets, in: PercentDecodedText(text))
        let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars.prefix(Self.maximumCharacters)
        shown = String(String.UnicodeScalarView(scalars.map { $0.isControlOrFormat ? " " : $0 }))
    }

    private static func beforeQuery(_ text: String) -> String {
        text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).first.map(String.init) ?? ""
    }

    /// The values of a query and the parts of a path that have at least 4 bytes. A server may quote one alone. The
    /// names of values are not secret.
    private static func values(_ text: String) -> [String] {
        text.split { "?&;/".contains($0) }.map { part in
            part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).last.map(String.init) ?? ""
        }.filter { $0.utf8.count >= 4 }
    }

    /// Masks each secret, both as written and with percent-encoding decoded on both sides. Both are needed, because the
    /// text before a secret can make its first characters look like an escape. The rest keeps its spelling.
    private static func masking(_ secrets: [String], in text: PercentDecodedText) -> [UInt8] {
        var isSecret = [Bool](repeating: false, count: text.spelled.count)
        func mark(_ secret: [UInt8], in bytes: [UInt8], spelled: (Range<Int>) -> Range<Int>) {
            let (secret, bytes) = (secret.map(folded), bytes.map(folded))
            guard !secret.isEmpty else { return }
            var marked = 0
            for start in bytes.indices where bytes[start...].starts(with: secret) {
                let range = spelled(start..<(start + secret.count))
                for position in max(marked, range.lowerBound)..<range.upperBound { isSecret[position] = true }
                marked = range.upperBound
            }
        }
        for secret in secrets {
            mark(Array(secret.utf8), in: text.spelled) { $0 }
            mark(PercentDecodedText(secret).bytes, in: text.bytes, spelled: text.spelling)
        }
        var result: [UInt8] = []
        for (position, byte) in text.spelled.enumerated() {
            if !isSecret[position] {
                result.append(byte)
            } else if position == 0 || !isSecret[position - 1] {
                result += "<redacted>".utf8
            }
        }
        return result
    }

    /// Servers change case; "+" stands for a space in a query.
    private static func folded(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte + 32
        case UInt8(ascii: "+"): UInt8(ascii: " ")
        default: byte
        }
    }
}
