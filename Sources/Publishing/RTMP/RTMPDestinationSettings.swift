internal import Buffering
package import Endpoints
package import MediaCore

package struct RTMPDestinationSettings: Sendable {
    package var endpoint: RTMPEndpoint
    package var key: Secret
    /// The login, if the server asks for one. Initially from the endpoint's URL.
    package var credentials: RTMPCredentials?
    /// Reads key and login before each connection, on the destination's thread, so that replaced files take effect. Its
    /// nil values change nothing. Nil if `key` and `credentials` are final.
    package var readSecrets: (@Sendable () throws(PublishError) -> RTMPSecrets)?
    /// The files that `readSecrets` reads, for messages; empty for none.
    package var secretFiles = ""
    /// From the start of name resolution to a connected socket, for all addresses together.
    package var connectTimeout = MediaTime.seconds(10)
    /// The time for one address to answer.
    package var addressTimeout = MediaTime.seconds(5)
    /// From the connected socket to the accepted "publish", including TLS.
    package var handshakeTimeout = MediaTime.seconds(10)
    /// A server that takes no byte for this long is disconnected.
    package var sendTimeout = MediaTime.seconds(5)
    /// A server that takes bytes, but whose acknowledgement is overdue for this long, is disconnected.
    package var acknowledgementTimeout = MediaTime.seconds(10)
    /// How long a server that has received everything may take to close the connection.
    package var closingGrace = MediaTime.milliseconds(500)
    /// The most bytes that the kernel may hold unsent, about a quarter of a second. The rest waits in the log, where it
    /// can be shed.
    package var sendAheadBytes = 128 * 1024
    /// A PEM file of trusted CAs in place of the system's.
    package var caFile: String?
    /// If set, `caFile` is relative to this folder and must be beneath it.
    package var caFolder: String?
    /// False accepts any certificate. Then an attacker on the path can read the stream and the key.
    package var verifiesCertificate = true
    /// Whether a ReconnectRequest of the server (Enhanced RTMP) may lead to another host. It never leads from TLS to
    /// plain TCP.
    package var allowsRedirect = false
    /// Chunk size in bytes, 1 to 16,777,215. With 65,536 most messages take one `send`. Servers accept it (nginx-rtmp
    /// up to 10,485,760).
    package var chunkSize = 65_536
    /// The acknowledgement window in bytes. Acknowledgements are the end-to-end measure of delivery, so they should
    /// come more than once a second.
    package var acknowledgementWindow: UInt32 = 64 * 1024

    /// The most memory of a connection beside the packet: the kernel's for the socket.
    package static let bufferedBytes = TCPConnector.kernelBytes

    package init(endpoint: RTMPEndpoint, key: Secret) {
        self.endpoint = endpoint
        self.key = key
        credentials = endpoint.userInfo.flatMap { RTMPCredentials($0) }
    }
}

extension DestinationSettings.Kind {
    package static func rtmp(_ settings: RTMPDestinationSettings) -> Self { Self(sink: settings) }
}

extension RTMPDestinationSettings: SinkSettings {
    var facts: SinkFacts {
        SinkFacts(
            kind: RTMPEndpoint.facts.kind,
            location: endpoint.description,
            cursorPolicy: CursorPolicy(),
            longestWaits: SinkWaits(
                opening: connectTimeout + handshakeTimeout, turn: sendTimeout * (RTMPPublisher.slowestSend + 1)),
            headroom: RTMPPublisher.headroom,
            tailroom: 0,
            bufferedBytes: Self.bufferedBytes)
    }

    func makeFactory(_ context: SinkContext) -> any SinkFactory { RTMPSinkFactory(self, context) }
}

package struct RTMPSecrets: Sendable {
    package var key: Secret?
    package var credentials: RTMPCredentials?

    package init(key: Secret? = nil, credentials: RTMPCredentials? = nil) {
        self.key = key
        self.credentials = credentials
    }
}
