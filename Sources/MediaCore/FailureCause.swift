/// Why publishing to a destination did not start, or ended. The raw values are stable names for logs, counters and
/// JSON.
package enum FailureCause: String, CaseIterable, Sendable {
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
    /// The destination was cancelled, or the stop's deadline passed.
    case cancelled
}
