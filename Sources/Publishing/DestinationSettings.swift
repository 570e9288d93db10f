package import Buffering
package import Endpoints
package import MediaCore

/// One place that a broadcast goes to.
package struct DestinationSettings: Sendable {
    package enum Kind: Sendable, Equatable {
        case rtmp(RTMPDestinationSettings)
        case flvFile(FLVFileSettings)
    }

    /// How the operator calls it; shown in every message about it.
    package var name: String
    package var kind: Kind
    /// The largest encoded frame that is taken, in bytes; also the memory that the destination reserves for its copy.
    package var maximumPacketBytes: Int
    /// When frames are left out because the destination is slow; nothing is left out for files.
    package var cursorPolicy: CursorPolicy
    package var reconnect: ReconnectPolicy
    /// Reads the key and the login before each connection, on the destination's thread, so that one that was replaced
    /// is used; nil where `kind` has them. What it gives as nil stays as `kind` has it.
    package var readSecrets: (@Sendable () throws(PublishError) -> RTMPSecrets)?
    /// The files that `readSecrets` reads, for people; empty for none.
    package var secretFiles = ""
    /// The destination has worked in an earlier broadcast: no certificate or refusal is final.
    package var hasWorked = false
    /// Whether the encoder's bitrate follows what this link carries.
    package var isAdaptedTo = false

    package init(
        name: String, kind: Kind, maximumPacketBytes: Int = 1 << 20, cursorPolicy: CursorPolicy? = nil,
        reconnect: ReconnectPolicy = ReconnectPolicy()
    ) {
        self.reconnect = reconnect
        self.name = name
        self.kind = kind
        self.maximumPacketBytes = maximumPacketBytes
        self.cursorPolicy =
            switch kind {
            case .rtmp: cursorPolicy ?? CursorPolicy()
            case .flvFile: cursorPolicy ?? .keepEverything
            }
    }

    /// The URL without secrets, or the path.
    package var location: String {
        switch kind {
        case .rtmp(let settings): settings.endpoint.description
        case .flvFile(let file): file.path
        }
    }
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

/// How to publish to one RTMP server.
package struct RTMPDestinationSettings: Sendable, Equatable {
    package var endpoint: RTMPEndpoint
    package var key: Secret
    /// For servers that want a login; at first what the endpoint's URL has.
    package var credentials: RTMPCredentials?
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

    /// All that opening a connection may wait for.
    var longestOpening: MediaTime { connectTimeout + handshakeTimeout }
    /// All that one packet, and a look at what the server says, may wait for.
    var longestTurn: MediaTime { sendTimeout * (RTMPPublisher.slowestSend + 1) }

    package init(endpoint: RTMPEndpoint, key: Secret) {
        self.endpoint = endpoint
        self.key = key
        credentials = endpoint.userInfo.flatMap { RTMPCredentials($0) }
    }
}
