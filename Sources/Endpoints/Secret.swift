/// A string that must not be shown, such as a stream key: printing, dumping or interpolating it gives "<redacted>".
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The string itself, for the code that sends it.
    package let revealed: String

    package init(_ value: String) { revealed = value }

    package var isEmpty: Bool { revealed.isEmpty }
    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
