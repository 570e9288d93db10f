/// Why a picture file cannot be used, and the remedy.
package struct StillPictureError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Follows the file's name.
    package let what: String
    package let remedy: String

    package init(_ what: String, _ remedy: String) { (self.what, self.remedy) = (what, remedy) }

    package var description: String { "\(what); \(remedy)" }

    static func cutOff() -> StillPictureError { .init("is cut off, or broken", "save it again") }
}
