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
    /// Of an app: whose it is. Apps of two users are two, though they have one name.
    package var user: UInt32?

    package init(_ kind: Kind, _ name: String = "", user: UInt32? = nil) {
        self.kind = kind
        self.name = name
        self.user = user
    }

    func isApp(of user: UInt32?) -> Bool { kind == .app && self.user == user }

    /// The client has gone away, and nobody can say any more what of its last pictures was private.
    package static let vanished = PrivacyHolder(.daemon, "client_vanished")
    /// Nothing has been shown yet.
    package static let start = PrivacyHolder(.daemon, "start")
    /// What a picture was to hide could not be understood.
    package static let badRegions = PrivacyHolder(.daemon, "bad_regions")

    /// Apps that are asked before anything is shown have not all answered.
    package static let consulting = PrivacyHolder(.daemon, "consulting")

    /// Raised because of something that has happened, and for nobody.
    package var isAutomatic: Bool {
        kind == .daemon && ![Curtain.tooMany, .stateUnreadable, .consulting].contains(self)
    }

    /// Lets go as soon as a picture has come that may be shown.
    package var awaitsAPicture: Bool { self == .start || self == .badRegions }

    /// Has nothing against the pictures that come while it holds the curtain up, and does not let go yet: the last of
    /// them is kept, and shown when it does.
    package var keepsPictures: Bool { awaitsAPicture || self == .consulting }

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
