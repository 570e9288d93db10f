internal import Buffering
package import Endpoints
package import MediaCore

/// How to publish to one RTMP server.
package struct RTMPDestinationSettings: Sendable {
    package var endpoint: RTMPEndpoint
    package var key: Secret
    /// For servers that want a login; at first what the endpoint's URL has.
    package var credentials: RTMPCredentials?
    /// Reads the key and the login before each connection, on the destination's thread, so that one that was replaced
    /// is used; nil where `key` and `credentials` have them. What it gives as nil stays as it is.
    package var readSecrets: (@Sendable () throws(PublishError) -> RTMPSecrets)?
    /// The files that `readSecrets` reads, for people; empty for none.
    package var secretFiles = ""
    /// From the start of name resolution to a connected socket, all addresses together.
    package var connectTimeout = MediaTime.seconds(10)
    /// For one of the addresses to answer.
    package var addressTimeout = MediaTime.seconds(5)
    /// From there to "publish" accepted, TLS included.
    package var handshakeTimeout = MediaTime.seconds(10)
    /// A server that takes no byte for as long is given up.
    package var sendTimeout = MediaTime.seconds(5)
    /// A server that takes bytes but acknowledges none that it should have for as long is given up.
    package var acknowledgementTimeout = MediaTime.seconds(10)
    /// Bytes that the kernel may hold unsent, so that the rest waits where it can be left out: a quarter of a second.
    package var sendAheadBytes = 128 * 1024
    /// PEM file of the CAs to trust instead of the system's.
    package var caFile: String?
    /// `caFile` is beneath this folder, and its name relative to it; nil for a path.
    package var caFolder: String?
    /// False accepts any certificate: whoever is in between can read the stream and the key.
    package var verifiesCertificate = true
    /// Whether a server's ReconnectRequest (Enhanced RTMP) may lead to another host; never from TLS to plain TCP.
    package var allowsRedirect = false
    /// Bytes of a chunk, 1 to 16,777,215; 65,536 makes most messages one `send`, and servers take it (nginx-rtmp up to
    /// 10,485,760).
    package var chunkSize = 65_536
    /// Bytes after which the server is asked to acknowledge; its acknowledgements are the end-to-end measure, so they
    /// should come more than once a second.
    package var acknowledgementWindow: UInt32 = 64 * 1024

    package init(endpoint: RTMPEndpoint, key: Secret) {
        self.endpoint = endpoint
        self.key = key
        credentials = endpoint.userInfo.flatMap { RTMPCredentials($0) }
    }
}

extension RTMPDestinationSettings: SinkSettings {
    var kindName: String { endpoint.isSecure ? "rtmps" : "rtmp" }
    var location: String { endpoint.description }
    var cursorPolicy: CursorPolicy { CursorPolicy() }
    var longestWaits: SinkWaits? {
        SinkWaits(opening: connectTimeout + handshakeTimeout, turn: sendTimeout * (RTMPPublisher.slowestSend + 1))
    }

    func makeFactory(_ context: SinkContext) -> any SinkFactory { RTMPSinkFactory(self, context) }
}

/// What a publisher must know to be let in.
package struct RTMPSecrets: Sendable {
    package var key: Secret?
    package var credentials: RTMPCredentials?

    package init(key: Secret? = nil, credentials: RTMPCredentials? = nil) {
        self.key = key
        self.credentials = credentials
    }
}
