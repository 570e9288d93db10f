/// The limits of the control server. They bound its memory: connections x (head + body + answer).
package struct ControlLimits: Sendable {
    /// Further connections are answered with 503 and closed.
    package var maxConnections = 16
    /// Connections of users without a role at the Unix socket. One such user can have half of them.
    package var maxWithoutRole = 4
    /// Connections at the Unix socket of one user who is not an operator.
    package var maxOfOneUser = 12
    /// The maximum number of open sockets. It exceeds `maxConnections` because closing a connection takes a moment. One
    /// more socket is open while it is refused.
    package var maxAccepted: Int { maxConnections + 3 }
    /// The maximum number of streams among them. A further stream is answered with 503.
    package var maxStreams = 8
    /// Bytes of request line and headers.
    package var maxHeadBytes = 8 * 1024
    package var maxBodyBytes = 8 * 1024
    /// From connecting to the end of the request.
    package var requestTimeoutMilliseconds: Int64 = 5000
    /// From the answer's first byte to its last.
    package var responseTimeoutMilliseconds: Int64 = 5000

    package init() {}
}
