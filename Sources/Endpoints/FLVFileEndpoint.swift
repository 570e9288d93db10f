/// A local FLV file to record into.
package struct FLVFileEndpoint: DestinationEndpoint {
    package let path: String

    package static let facts = DestinationFacts(
        kind: "file", isServer: false, noun: "FLV file", forms: ["file:/path", "a path that ends in .flv"])

    package static func read(_ text: String) throws(InvalidDestinationURL) -> Self? {
        guard text.hasPrefix("file:") else {
            return text.hasSuffix(".flv") && !text.contains("://") ? Self(path: text) : nil
        }
        var path = text.dropFirst("file:".count)
        if path.hasPrefix("//") { path = path.dropFirst(2) }
        guard path.hasPrefix("/"), !path.hasSuffix("/") else {
            throw InvalidDestinationURL(
                what: "a file: URL requires an absolute path", remedy: "write file:/path/to/recording.flv")
        }
        return Self(path: String(path))
    }

    package var hasTLS: Bool { false }
    package var localPath: String? { path }
    package func redacted(keyIsSeparate: Bool) -> String { "file:\(path)" }

    package func conflicts(with keys: DestinationKeys) -> [DestinationConflict] {
        var conflicts: [DestinationConflict] = []
        if keys.hasKey {
            conflicts.append(
                DestinationConflict(
                    keys: ["key_file", "key_env", "key"], what: "a file has no stream key",
                    remedy: "remove key_file and key_env"))
        }
        if keys.hasLogin {
            conflicts.append(
                DestinationConflict(
                    keys: ["login_file", "login_env", "login"], what: "a file has no login",
                    remedy: "remove login_file and login_env"))
        }
        return conflicts
    }
}
