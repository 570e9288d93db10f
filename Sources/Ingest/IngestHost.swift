package import IngestProtocol
package import LinuxSystem

/// Why a broadcast ends, as the ingest side sees it.
package enum BroadcastEnd: Equatable, Sendable {
    /// The client sent `finished`.
    case finished(FinishedMessage)
    /// The connection went away without `finished`.
    case clientVanished
    /// The client broke the protocol; it has been told.
    case protocolError
    /// The daemon is stopping.
    case daemonStopping
    /// An operator ended it.
    case endedByOperator
    /// The broadcast itself failed (encoder, every destination); the sentence says how.
    case failed(String)

    package var hasFailed: Bool { if case .failed = self { true } else { false } }
}

/// Begins and ends the broadcasts whose clients the ingest server accepts.
///
/// All calls come from the ingest thread, one at a time: `begin`, then pauses and annotations, then `ended` exactly
/// once for each `begin` that did not throw.
package protocol IngestHost: AnyObject, Sendable {
    /// A client has introduced itself. Returns its welcome and what takes its samples until `ended`; a throw ends the
    /// connection.
    func begin(_ message: StartedMessage, peer: PeerCredentials?) throws(ProtocolError)
        -> (welcome: WelcomeMessage, sink: any SampleSink)

    func paused()
    func resumed()
    func annotated(_ message: AnnotatedMessage)

    /// Whether viewers see a curtain, and because of whom. Asked for after `IngestServer.curtainChanged`.
    func curtainState() -> StateMessage
    /// How often the curtain has been raised, or held up as well, to hide what comes meanwhile; it only rises.
    var curtainObjections: UInt32 { get }

    /// The broadcast is over. Must return at once; when everything has been drained and closed, the host calls
    /// `IngestServer.broadcastClosed`.
    func ended(_ reason: BroadcastEnd)
}
