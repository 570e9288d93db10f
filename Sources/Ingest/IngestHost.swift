package import IngestProtocol
package import LinuxSystem

/// Why a broadcast ends.
package enum BroadcastEnd: Equatable, Sendable {
    /// The client sent `finished`.
    case finished(FinishedMessage)
    /// The connection closed without `finished`.
    case clientVanished
    /// The client violated the protocol and received an error.
    case protocolError
    /// The daemon is stopping.
    case daemonStopping
    /// An operator ended the broadcast.
    case endedByOperator
    /// The broadcast failed (encoder, or all destinations). The sentence states the cause.
    case failed(String)

    package var hasFailed: Bool { if case .failed = self { true } else { false } }
}

/// Starts and ends the broadcasts of the clients that the ingest server accepts.
///
/// The ingest thread makes all calls: `begin`, then pauses and annotations, then `ended` exactly once for each `begin`
/// that did not throw.
package protocol IngestHost: AnyObject, Sendable {
    /// Starts a broadcast for a client that sent `started`. Returns the welcome and the sink for its samples until
    /// `ended`. An error ends the connection.
    func begin(_ message: StartedMessage, peer: PeerCredentials?) throws(ProtocolError)
        -> (welcome: WelcomeMessage, sink: any SampleSink)

    func paused()
    func resumed()
    func annotated(_ message: AnnotatedMessage)

    /// The state of the curtain and its holder. The ingest thread reads it after `IngestServer.curtainChanged`.
    func curtainState() -> StateMessage
    /// The number of objections so far. It never decreases.
    var curtainObjections: UInt32 { get }

    /// Ends the broadcast. Must return at once. After the drain, the host calls `IngestServer.broadcastClosed`.
    func ended(_ reason: BroadcastEnd)
}
