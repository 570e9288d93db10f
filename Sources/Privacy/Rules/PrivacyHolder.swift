/// A holder of the curtain or of a region.
package struct PrivacyHolder: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// The capture client, with `paused`.
        case client
        /// The captured app.
        case app
        case `operator`
        /// The daemon itself, because of a problem.
        case daemon
    }

    package var kind: Kind
    /// The name within the kind: an app's name or the daemon's reason; 1 to 64 characters that need no quoting.
    package var name: String
    /// The user of an app. Apps of two users are different apps, even if they have the same name.
    package var user: UInt32?

    package init(_ kind: Kind, _ name: String = "", user: UInt32? = nil) {
        self.kind = kind
        self.name = name
        self.user = user
    }

    func isApp(of user: UInt32?) -> Bool { kind == .app && self.user == user }

    /// The client has vanished, so it is unknown what in its last pictures was private.
    package static let vanished = PrivacyHolder(.daemon, "client_vanished")
    /// Nothing has been shown yet.
    package static let start = PrivacyHolder(.daemon, "start")
    /// A picture's regions could not be understood.
    package static let badRegions = PrivacyHolder(.daemon, "bad_regions")

    /// Not all apps that are consulted before anything is shown have answered.
    package static let consulting = PrivacyHolder(.daemon, "consulting")

    /// Whether the hold was added because of an event, not on behalf of anybody.
    package var isAutomatic: Bool {
        kind == .daemon && ![Curtain.tooMany, .stateUnreadable, .consulting].contains(self)
    }

    /// Whether the hold ends as soon as a picture has come that may be shown.
    package var awaitsAPicture: Bool { self == .start || self == .badRegions }

    /// Whether the holder does not object to the pictures that arrive while it holds the curtain up. The last of them
    /// is kept, and shown when the hold ends.
    package var keepsPictures: Bool { awaitsAPicture || self == .consulting }

    /// `app:kiosk`, `operator`.
    package var description: String { name.isEmpty ? kind.rawValue : "\(kind.rawValue):\(name)" }

    /// Whether the text is valid as a name from outside.
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
