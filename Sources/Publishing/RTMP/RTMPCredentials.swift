package import Endpoints

/// User and password of a publisher.
package struct RTMPCredentials: Equatable, Sendable {
    package var user: Secret
    package var password: Secret

    package init(user: Secret, password: Secret) {
        self.user = user
        self.password = password
    }

    /// Parses the user info of a URL ("user:password"). Returns nil if user or password is missing, empty or not UTF-8.
    ///
    /// The first colon separates them. Percent-escapes are decoded, because "/", "?", "#", "@" and, in a user, ":" must
    /// be escaped. A "%" that begins no escape stays.
    init?(_ userInfo: Secret) {
        guard let colon = userInfo.revealed.firstIndex(of: ":"),
            let user = Self.decoded(userInfo.revealed[..<colon]), !user.isEmpty,
            let password = Self.decoded(userInfo.revealed[userInfo.revealed.index(after: colon)...]), !password.isEmpty
        else { return nil }
        self.user = Secret(user)
        self.password = Secret(password)
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                bytes.append(UInt8(digits[0] << 4 | digits[1]))
                rest.removeFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
