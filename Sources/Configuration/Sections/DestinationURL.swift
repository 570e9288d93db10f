package import ControlProtocol
package import Endpoints

/// The URL of a destination. Its descriptions never show a stream key.
package enum DestinationURL: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    /// Not set. `Configuration.load` never returns it.
    case none
    case rtmp(RTMPEndpoint)
    case flvFile(FLVFileEndpoint)

    /// Every kind, in the order of the docs.
    static let kinds = [Kind(rtmp), Kind(flvFile)]

    /// What the URL says; nil if it is not set.
    private var endpoint: (any DestinationEndpoint)? {
        switch self {
        case .none: nil
        case .rtmp(let endpoint): endpoint
        case .flvFile(let endpoint): endpoint
        }
    }

    /// Without a URL, a server is assumed.
    private var facts: DestinationFacts { endpoint.map { type(of: $0).facts } ?? RTMPEndpoint.facts }

    /// A kind of destination: its facts, and how its URLs are read.
    struct Kind: Sendable {
        let facts: DestinationFacts
        /// Nil for a URL of another kind.
        let read: @Sendable (String) throws(InvalidDestinationURL) -> DestinationURL?

        fileprivate init<Endpoint: DestinationEndpoint>(_ url: @escaping @Sendable (Endpoint) -> DestinationURL) {
            facts = Endpoint.facts
            read = { text throws(InvalidDestinationURL) in try Endpoint.read(text).map(url) }
        }
    }

    /// Reads a URL of any kind. Errors contain no part of `text`.
    package init(_ text: String) throws(InvalidDestinationURL) {
        for kind in Self.kinds {
            guard let url = try kind.read(text) else { continue }
            self = url
            return
        }
        throw InvalidDestinationURL(
            what: "names " + Self.kinds.map { "no \($0.facts.noun)" }.joined(separator: " and "),
            remedy: "write \(Self.forms)")
    }

    /// The accepted forms, for messages and docs.
    static let forms = alternatives(kinds.flatMap(\.facts.forms), comma: ",")
    /// "RTMP servers or FLV files", for docs.
    static let kindsInWords = alternatives(kinds.map { $0.facts.noun + "s" }, comma: "")

    /// Whether the connection holds a TLS session.
    var hasTLS: Bool { endpoint?.hasTLS ?? false }
    /// The path of a local file; nil for a server.
    var localPath: String? { endpoint?.localPath }
    /// Whether viewers can watch a stream there; false for a recording.
    package var isServer: Bool { facts.isServer }
    /// As the status names it.
    package var kind: DestinationKind { DestinationKind(rawValue: facts.kind) }

    /// The redacted URL. If the key is separate, the whole path is the application and is shown.
    package func redacted(keyIsSeparate: Bool) -> String {
        endpoint?.redacted(keyIsSeparate: keyIsSeparate) ?? "(no url)"
    }

    func conflicts(with keys: DestinationKeys) -> [DestinationConflict] { endpoint?.conflicts(with: keys) ?? [] }

    package var description: String { redacted(keyIsSeparate: false) }
    // `dump` uses mirrors.
    package var customMirror: Mirror { Mirror(self, children: ["redacted": description]) }

    /// "a, b, or c"
    private static func alternatives(_ words: [String], comma: String) -> String {
        words.count < 2
            ? words.joined()
            : words.dropLast().joined(separator: ", ") + "\(comma) or \(words[words.count - 1])"
    }
}

extension DestinationConfiguration {
    /// Settings that conflict with the kind of destination.
    var conflictsOfKind: [DestinationConflict] {
        url.conflicts(
            with: DestinationKeys(
                hasKey: hasSeparateKey, hasLogin: hasSeparateLogin, hasCAFile: caFile != nil,
                // Only destinations from requests have a secrets folder.
                areOfRequest: secretsFolder != nil))
    }
}
