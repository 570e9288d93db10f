/// The contents of the URL of one kind of destination, and the facts about that kind for configuration, status, memory
/// plan and docs. Each kind has one type that conforms. There are no defaults, so that the compiler requires each fact.
package protocol DestinationEndpoint: Equatable, Sendable {
    static var facts: DestinationFacts { get }
    /// Reads a URL; nil if it has the form of another kind. Errors contain no part of `text`.
    static func read(_ text: String) throws(InvalidDestinationURL) -> Self?

    /// Whether the connection holds a TLS session.
    var hasTLS: Bool { get }
    /// The path of a local file; nil for a server.
    var localPath: String? { get }
    /// The URL without secrets. If the key is separate, the whole path is the application and is shown.
    func redacted(keyIsSeparate: Bool) -> String
    /// The keys that conflict with this URL, and those that are missing.
    func conflicts(with keys: DestinationKeys) -> [DestinationConflict]
}

/// The facts that are the same for all destinations of a kind.
package struct DestinationFacts: Equatable, Sendable {
    /// The name in the status and in metrics, such as `rtmp`.
    package let kind: String
    /// Whether viewers can watch a stream there; false for a recording. `DestinationKind.isServer` repeats it for
    /// tools.
    package let isServer: Bool
    /// For messages and docs: "RTMP server".
    package let noun: String
    /// The accepted forms of the URL, for messages and docs.
    package let forms: [String]
}

/// The keys beside the URL of a destination that matter to its kind.
package struct DestinationKeys: Equatable, Sendable {
    /// The stream key: `key_file`, `key_env`, or `key` of a request.
    package var hasKey: Bool
    /// `login_file`, `login_env`, or `login` of a request.
    package var hasLogin: Bool
    package var hasCAFile: Bool
    /// Whether the keys are from a request, which may contain secrets itself.
    package var areOfRequest: Bool

    package init(hasKey: Bool = false, hasLogin: Bool = false, hasCAFile: Bool = false, areOfRequest: Bool = false) {
        (self.hasKey, self.hasLogin) = (hasKey, hasLogin)
        (self.hasCAFile, self.areOfRequest) = (hasCAFile, areOfRequest)
    }
}

/// Keys that conflict with a URL. The message is reported at the first key that is set.
package struct DestinationConflict: Equatable, Sendable {
    package let keys: [String]
    package let what: String
    package let remedy: String
}

/// Why a text is not a destination URL. Contains no part of that text.
package struct InvalidDestinationURL: Error, Equatable, Sendable {
    package var what: String
    package var remedy: String

    package init(what: String, remedy: String) {
        self.what = what
        self.remedy = remedy
    }
}
