/// Why a configured file cannot be read. The words are those of a `ConfigurationProblem`.
package struct UnreadableFile: Error, Equatable, Sendable {
    package let what: String
    package let remedy: String

    package init(what: String, remedy: String) {
        self.what = what
        self.remedy = remedy
    }
}

extension PrivacyConfiguration {
    /// The path of the curtain picture, for messages.
    package var curtainPictureName: String { printable(curtainPicture ?? "") }

    /// Reads the curtain picture. Files above `limit` bytes are refused.
    package func curtainPictureFile(limit: Int) throws(UnreadableFile) -> [UInt8] {
        do { return try readFile(curtainPicture ?? "", limit: limit) } catch {
            throw UnreadableFile(what: error.what, remedy: error.remedy)
        }
    }
}
