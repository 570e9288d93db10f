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
        let patterns = secrets.map { PercentDecodedText($0).bytes.map(Self.lowercased) }
            .filter { !$0.isEmpty }.sorted { $0.count > $1.count }
        let bytes = Self.replacing(patterns, in: PercentDecodedText(text), by: Array("<redacted>".utf8))
        let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars.prefix(Self.maximumCharacters)
        shown = String(String.UnicodeScalarView(scalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
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

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte + 32 : byte
    }

    /// One pass, so that what has been put in is not searched again. What is not replaced stays as the server spelled it.
    private static func replacing(
        _ patterns: [[UInt8]], in text: PercentDecodedText, by replacement: [UInt8]
    ) -> [UInt8] {
        var result: [UInt8] = []
        var position = 0
        while position < text.bytes.count {
            let rest = text.bytes[position...]
            if let found = patterns.first(where: { rest.starts(with: $0) { lowercased($0) == $1 } }) {
                result += replacement
                position += found.count
            } else {
                result += text.spelling(of: position)
                position += 1
            }
        }
        return result
    }
}
