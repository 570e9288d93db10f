internal import Buffering
internal import LinuxSystem
internal import Measurement
internal import MediaCore

/// Updates of the snapshot, and events. Destination's thread only.
extension Destination {
    func enter(_ new: DestinationState) {
        state.withLock { state in
            state.snapshot.state = new
            state.snapshot.since = clock.now()
            if new != .publishing, new != .stopping {
                state.snapshot.downSince = state.snapshot.downSince ?? clock.now()
                state.snapshot.link.isPublishing = false
                state.snapshot.link.congestedSince = nil
            }
        }
        onEvent(.state(new))
    }

    func notice(_ text: String) { onEvent(.notice("\(title): \(text)")) }

    /// Adds destination and consequence to a failure, and records it.
    func noted(_ error: PublishError, _ consequence: String) -> PublishError {
        var error = error
        error.destination = title
        error.consequence = consequence
        state.withLock {
            $0.snapshot.lastError = error
            $0.snapshot.lastErrorAt = clock.now()
            $0.snapshot.failures[error.cause, default: 0] += 1
        }
        return error
    }

    /// Counts a connection or a file that is ready for packets.
    func noteConnection() {
        state.withLock {
            $0.snapshot.connects += 1
            $0.snapshot.link.connection += 1
        }
    }

    /// - Parameter earlier: bytes of the connections or files before the current one.
    func note(_ progress: SinkProgress, after earlier: (sent: UInt64, acknowledged: UInt64)) {
        state.withLock { state in
            state.snapshot.location = progress.location
            // A closed sink reports zero.
            state.snapshot.bytesSent = max(state.snapshot.bytesSent, earlier.sent + progress.bytesSent)
            if let acknowledged = progress.bytesAcknowledged {
                state.snapshot.bytesAcknowledged = earlier.acknowledged + acknowledged
            }
            state.snapshot.tlsProtocol = progress.tlsProtocol
        }
    }

    /// - Parameter begin: when the write began.
    func noteSent(_ info: PacketInfo, byteCount: Int, at begin: MediaTime) {
        state.withLock { state in
            // Idle repeats have no arrival.
            if info.track == .video, info.arrival > .zero { state.latency.note(begin - info.arrival) }
            switch info.track {
            case .video:
                state.snapshot.video.add(byteCount)
                if state.snapshot.shortConnections == 0 { state.snapshot.downSince = nil }
            case .audio: state.snapshot.audio.add(byteCount)
            }
        }
    }

    func note(_ measurement: LinkMeasurement, at now: MediaTime) -> LinkReport {
        let shed = cursor.drops
        return state.withLock { state in
            state.snapshot.link.time = now
            state.snapshot.link.isPublishing = true
            state.snapshot.link.lag = measurement.lag
            state.snapshot.link.unacknowledged = measurement.unacknowledged
            state.snapshot.link.noteLateness(measurement.behind, at: now)
            state.snapshot.link.deliveredBytes = measurement.deliveredBytes
            state.snapshot.link.outstandingBytes = measurement.outstandingBytes
            state.snapshot.link.noteShed(shed.video.late + shed.video.disposable + shed.audio.late, at: now)
            return state.snapshot.link
        }
    }
}
