internal import LinuxSystem
internal import MediaCore

/// The record of a destination's connections or files: since when the current one has taken packets, its bytes, and how
/// many in a row were short. Destination's thread only.
final class ConnectionRecord {
    private let destination: Destination
    /// Bytes of the connections or files before the current one.
    private var earlier = (sent: UInt64(0), acknowledged: UInt64(0))
    private var shortConnections = ShortConnections()
    private var wasShort = false
    private var readySince: MediaTime?

    init(_ destination: Destination) { self.destination = destination }

    /// Notes that a sink is being made for a new connection.
    func begin() {
        (readySince, wasShort) = (nil, false)
        earlier = destination.state.withLock { ($0.snapshot.bytesSent, $0.snapshot.bytesAcknowledged ?? 0) }
    }

    /// Notes that the connection is ready for packets.
    func noteReady() {
        readySince = destination.clock.now()
        destination.noteConnection()
    }

    /// How long the connection has been ready for packets; nil if it never was.
    var age: MediaTime? { readySince.map { destination.clock.now() - $0 } }

    func note(_ progress: SinkProgress) { destination.note(progress, after: earlier) }

    /// Ends a series of short connections once this one has lasted.
    func noteAge() { if let age { note(age: age) } }

    private func note(age: MediaTime) {
        guard shortConnections.count > 0, age >= ShortConnections.shortest else { return }
        let wasFlapping = shortConnections.isFlapping
        shortConnections.reset()
        // The next packet ends the outage.
        destination.state.withLock { $0.snapshot.shortConnections = 0 }
        if wasFlapping { destination.notice("stays connected again") }
    }

    /// Counts a connection that ended within a second, and says so in the error. Some servers refuse publishers in this
    /// way.
    func noteEnd(_ error: inout PublishError) {
        guard let age else { return }
        note(age: age)
        guard age < ShortConnections.shortest else { return }
        guard [.closedByServer, .connectionLost].contains(error.cause) else { return }
        if error.isWordless {
            error.detail += ", \(age.milliseconds) ms after the stream was accepted: \(PublishError.wordlessCauses)"
        }
        shortConnections.noteShort()
        wasShort = true
        destination.state.withLock { $0.snapshot.shortConnections = shortConnections.count }
    }

    /// The number of short connections in a row, if it is to be reported now.
    var shortConnectionsToTell: Int? { wasShort && shortConnections.isNews ? shortConnections.count : nil }
}
