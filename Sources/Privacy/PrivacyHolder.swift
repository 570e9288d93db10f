/// Who holds the curtain up, or keeps something covered.
package struct PrivacyHolder: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// The capture client: `paused`.
        case client
        /// The captured app.
        case app
        case `operator`
        /// The daemon by itself, because of something that has gone wrong.
        case daemon
    }

    package var kind: Kind
    /// Which of that kind: an app's name, or the daemon's reason; 1 to 64 characters that need no quoting.
    package var name: String

    package init(_ kind: Kind, _ name: String = "") {
        self.kind = kind
        self.name = name
    }

    /// `app:kiosk`, `operator`.
    package var description: String { name.isEmpty ? kind.rawValue : "\(kind.rawValue):\(name)" }

    /// A name as it may come from outside.
    package static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "/")].contains(byte)
                }
            }
    }
}
