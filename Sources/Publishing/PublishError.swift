/// Why publishing to a destination did not start, or ended: a sentence for people and a `Kind` for programs.
///
/// The sentence says what failed, on which destination (redacted), why, and what happens now.
package struct PublishError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The raw values are stable names for logs, counters and JSON.
    package enum Kind: String, CaseIterable, Sendable {
        /// The host name could not be resolved.
        case nameResolution = "name_resolution"
        /// No address of the host accepted a connection.
        case connect
        case connectTimeout = "connect_timeout"
        /// The server's certificate was rejected.
        case certificate
        /// TLS failed for another reason.
        case tls
        /// The server was connected, but publishing did not begin in time.
        case handshakeTimeout = "handshake_timeout"
        /// The server broke the RTMP protocol or exceeded our limits.
        case protocolViolation = "protocol_violation"
        /// The stream key or the login could not be read.
        case secret
        /// The server wants a login, but rejects the user and password, or got none.
        case credentials
        /// The server refused the application or the stream.
        case rejected
        /// Another publisher uses the stream's name (NetStream.Publish.BadName).
        case nameInUse = "name_in_use"
        /// The server took no bytes for the send timeout.
        case sendTimeout = "send_timeout"
        /// The server took bytes but acknowledged none of them for too long: it hangs.
        case acknowledgementTimeout = "acknowledgement_timeout"
        case connectionLost = "connection_lost"
        /// The server closed the connection or unpublished the stream.
        case closedByServer = "closed_by_server"
        /// A file could not be created or written.
        case file
        /// The process lacks memory, descriptors, or a librtmp that works.
        case system
        /// `cancel` was called, or the stop's deadline passed.
        case cancelled
    }

    /// Whether another attempt is useless: the login is wrong, or the server refused a destination that has never
    /// worked.
    ///
    /// - Parameter hasWorked: whether packets have flowed to this destination before. Then the cause may be temporary:
    ///   a server that starts, a full disk, or a foreign certificate of somebody on the path. A new attempt sends
    ///   nothing before the certificate is accepted.
    func isFinal(hasWorked: Bool) -> Bool {
        switch kind {
        case .credentials: true
        case .certificate, .rejected, .file, .secret: !hasWorked
        default: false
        }
    }

    package var kind: Kind
    /// What failed and why, as a clause: "connecting to ... failed: ...".
    package var detail: String
    /// Name and redacted URL; set by the destination.
    package var destination = ""
    /// What happens now; set by the destination.
    package var consequence = ""

    package init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }

    /// Likely causes when a server closes a connection without a message.
    static let wordlessCauses = "the name may be taken, the publisher denied, or the key wrong"

    /// The detail when the server closed the connection without a message.
    static let closedWithoutWord = "the server closed the connection"

    var isWordless: Bool { kind == .connectionLost || detail == Self.closedWithoutWord }

    /// The description without the consequence.
    package var failure: String { (destination.isEmpty ? "" : destination + ": ") + detail }

    package var description: String {
        (destination.isEmpty ? "" : destination + ": ") + detail + (consequence.isEmpty ? "" : "; " + consequence)
    }
}
