/// Why a file that the configuration names cannot be read, in the words of a `ConfigurationProblem`.
package struct UnreadableFile: Error, Equatable, Sendable {
    package let what: String
    package let remedy: String

    package init(what: String, remedy: String) {
        self.what = what
        self.remedy = remedy
    }
}

extension PrivacyConfiguration {
    /// The path of the curtain's picture as messages quote it.
    package var curtainPictureName: String { printable(curtainPicture ?? "") }

    /// All bytes of the curtain's picture, as the file is now; refused past `limit` bytes.
    package func curtainPictureFile(limit: Int) throws(UnreadableFile) -> [UInt8] {
        do { return try readFile(curtainPicture ?? "", limit: limit) } catch {
            throw UnreadableFile(what: error.what, remedy: error.remedy)
        }
    }
}
