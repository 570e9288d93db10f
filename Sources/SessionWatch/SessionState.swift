/// Why viewers must not see the screen of a desktop session now.
package struct SessionState: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let locked = SessionState(rawValue: 1)
    /// Another session has the screen.
    package static let switched = SessionState(rawValue: 2)
    package static let sleeping = SessionState(rawValue: 4)
    package static let screenSaver = SessionState(rawValue: 8)
    /// A service that knows the state does not answer.
    package static let unknown = SessionState(rawValue: 16)

    /// For the user: `the session is locked`.
    package var text: String {
        let parts = [
            (SessionState.locked, "the session is locked"), (.switched, "another session has the screen"),
            (.sleeping, "the machine goes to sleep"), (.screenSaver, "the screen saver is on"),
            (.unknown, "nobody knows whether the session is locked"),
        ]
        return parts.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
