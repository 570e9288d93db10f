internal import Endpoints
internal import MediaCore

/// Words that a server sent, made fit to be shown: bounded, printable, and without the secrets that it was given.
struct ServerText {
    static let maximumCharacters = 200

    let shown: String

    /// - Parameter login: the query that a publisher logged in with.
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
        // Servers quote what they got, or what they made of it.
        let bytes = Self.masking(secrets, in: PercentDecodedText(text))
        let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars.prefix(Self.maximumCharacters)
        shown = String(String.UnicodeScalarView(scalars.map { $0.isControlOrFormat ? " " : $0 }))
    }

    private static func beforeQuery(_ text: String) -> String {
        text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).first.map(String.init) ?? ""
    }

    /// The values of a query, and the parts of a path, that are long enough to be worth something: a server may quote
    /// one alone. Names of values are no secrets.
    private static func values(_ text: String) -> [String] {
        text.split { "?&;/".contains($0) }.map { part in
            part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).last.map(String.init) ?? ""
        }.filter { $0.utf8.count >= 4 }
    }

    /// Masks each secret as it is written, and as it is meant where something in it is percent-encoded: what stands in
    /// front of it can make its first characters look like an escape. What is not masked stays as it was spelled.
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

    /// Servers change capital letters; a "+" stands for a space in a query.
    private static func folded(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte + 32
        case UInt8(ascii: "+"): UInt8(ascii: " ")
        default: byte
        }
    }
}
