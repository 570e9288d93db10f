/// Why publishing to a destination did not start, or ended: one sentence for people, one word for programs.
///
/// The sentence says what failed, on which destination (redacted), why, and what happens now.
package struct PublishError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of failure it is; the raw values are stable, for logs, counters and JSON.
    package enum Kind: String, CaseIterable, Sendable {
        /// The host's name did not lead to an address.
        case nameResolution = "name_resolution"
        /// No address of the host accepted a connection.
        case connect
        case connectTimeout = "connect_timeout"
        /// The server's certificate was not accepted.
        case certificate
        /// TLS failed for another reason.
        case tls
        /// The server was connected, but publishing had not begun when the time was up.
        case handshakeTimeout = "handshake_timeout"
        /// What the server sent is not RTMP, or exceeds what a publisher has to take.
        case protocolViolation = "protocol_violation"
        /// The stream key or the login could not be read.
        case secret
        /// The server wants a login, and does not accept the user and password that it got, or got none.
        case credentials
        /// The server refused the application or the stream.
        case rejected
        /// Another publisher holds the stream's name (NetStream.Publish.BadName).
        case nameInUse = "name_in_use"
        /// The server took no bytes for as long as a packet may take.
        case sendTimeout = "send_timeout"
        /// The server took bytes but acknowledged none of them for too long: it hangs.
        case acknowledgementTimeout = "acknowledgement_timeout"
        /// The connection broke.
        case connectionLost = "connection_lost"
        /// The server closed the connection, or unpublished the stream.
        case closedByServer = "closed_by_server"
        /// A file could not be created or written.
        case file
        /// The process lacks something that it needs (memory, descriptors, a sound librtmp).
        case system
        /// `cancel` was called, or the stop's deadline passed.
        case cancelled
    }

    /// Whether another attempt can bring nothing: the login is wrong, or the server said no to something that it has
    /// never said yes to.
    ///
    /// - Parameter hasWorked: packets have flowed to this destination before. What fails then can pass: a server that
    ///   is starting, a full disk, or somebody on the path who shows a certificate of their own. A new attempt sends
    ///   nothing before the certificate is accepted.
    func isFinal(hasWorked: Bool) -> Bool {
        switch kind {
        case .credentials: true
        case .certificate, .rejected, .file, .secret: !hasWorked
        default: false
        }
    }

    package var kind: Kind
    /// What failed and why, a clause without subject: "connecting to ... failed: ...".
    package var detail: String
    /// Name and redacted URL; filled in by the destination.
    package var destination = ""
    /// What happens now; filled in by the destination.
    package var consequence = ""

    package init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }

    /// What servers mean that close a connection without a word.
    static let wordlessCauses = "the name may be taken, the publisher denied, or the key wrong"

    /// The server closed the connection, and said nothing.
    static let closedWithoutWord = "the server closed the connection"

    var isWordless: Bool { kind == .connectionLost || detail == Self.closedWithoutWord }

    /// What failed, without what happens now.
    package var failure: String { (destination.isEmpty ? "" : destination + ": ") + detail }

    package var description: String {
        (destination.isEmpty ? "" : destination + ": ") + detail + (consequence.isEmpty ? "" : "; " + consequence)
    }
}
