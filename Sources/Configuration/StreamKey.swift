package import MediaCore

extension DestinationConfiguration {
    /// The stream key from `keyFile` or `keyEnvironment`, or nil when neither is set. Reads `keyFile` anew
    /// at each call, so that a replaced key is used from the next connect on.
    package func streamKey(environment: [String: String]) throws(StreamKeyError) -> Secret? {
        if let keyFile {
            let bytes: [UInt8]
            do { bytes = try readFile(keyFile, limit: 4096) } catch {
                throw StreamKeyError(source: "key_file \(printable(keyFile))", what: error.what, remedy: error.remedy)
            }
            let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
            return try Self.checked(String(decoding: line, as: UTF8.self), source: "key_file \(printable(keyFile))")
        }
        if let keyEnvironment {
            let source = "environment variable \(keyEnvironment)"
            guard let text = environment[keyEnvironment] else {
                throw StreamKeyError(
                    source: source, what: "is not set", remedy: "set it to the stream key, or correct key_env")
            }
            return try Self.checked(text, source: source)
        }
        return nil
    }

    private static func checked(_ text: String, source: String) throws(StreamKeyError) -> Secret {
        let key = text.trimmingSpaces
        guard !key.isEmpty else {
            throw StreamKeyError(source: source, what: "is empty", remedy: "its first line is to be the stream key")
        }
        guard key.utf8.count <= 1024, key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw StreamKeyError(
                source: source,
                what: "is not a stream key: longer than 1024 bytes, or with spaces or bytes that are not ASCII",
                remedy: "its first line is to be the stream key, and nothing else")
        }
        return Secret(String(key))
    }
}

/// Why there is no stream key; names its source, never its contents.
package struct StreamKeyError: Error, Equatable, Sendable, CustomStringConvertible {
    package var source: String
    package var what: String
    package var remedy: String
    package var description: String { "\(source) \(what); \(remedy)" }
}

extension String {
    fileprivate var trimmingSpaces: Substring {
        let blank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var rest = drop(while: blank)
        while let last = rest.last, blank(last) { rest.removeLast() }
        return rest
    }
}
