internal import Buffering
internal import ControlProtocol
internal import IngestProtocol
internal import Logging
internal import MediaCore
internal import Publishing

/// What a destination tells, in the words of those who hear it: the log, the client, the operator's status.
extension DestinationEvent {
    func log(to logger: Logger, name: String) {
        switch self {
        case .state(.publishing): logger.notice("destination live", metadata: ["destination": "\(name)"])
        case .state(let state): logger.debug("destination \(state.rawValue)", metadata: ["destination": "\(name)"])
        case .failed(let error):
            logger.error("\(error)", metadata: ["destination": "\(name)", "cause": "\(error.kind.rawValue)"])
        case .retrying(let error, let attempt, _):
            logger.warning(
                "\(error)",
                metadata: ["destination": "\(name)", "cause": "\(error.kind.rawValue)", "attempt": "\(attempt)"])
        case .notice(let sentence): logger.notice("\(sentence)", metadata: ["destination": "\(name)"])
        case .warning(let sentence): logger.warning("\(sentence)", metadata: ["destination": "\(name)"])
        }
    }
}

extension DestinationSnapshot {
    func status(at now: MediaTime) -> DestinationStatus {
        var status = DestinationStatus()
        status.name = name
        status.url = location
        status.state =
            switch state {
            case .idle: .idle
            case .connecting: .connecting
            case .publishing, .stopping: link.lateness > ClientAdvice.congestedLag ? .congested : .live
            case .reconnecting: .reconnecting
            case .stopped: .closed
            case .failed: .failed
            }
        status.stateMilliseconds = Int((now - since).milliseconds)
        status.bytesSent = Int(clamping: bytesSent)
        status.packetsSent = video.packets + audio.packets
        status.bytesAcknowledged = Int(clamping: bytesAcknowledged ?? 0)
        status.connects = connects
        status.failures = PublishError.Kind.allCases.map { Counter($0.rawValue, failures[$0] ?? 0) }
        status.nextAttemptMilliseconds = nextAttempt.map { Int(max(.zero, $0 - now).milliseconds) } ?? 0
        status.lagMilliseconds = Int(link.lateness.milliseconds)
        status.drops = Track.allCases.flatMap { track in
            DropCause.allCases.map { Counter("\(track)_\($0.rawValue)", drops[track][$0]) }
        }
        status.backlogMilliseconds = Int(backlog.duration.milliseconds)
        status.backlogBytes = backlog.bytes
        status.lastError = lastError?.description
        status.latency = LatencyStatus("socket_to_wire", latency)
        return status
    }
}

extension LatencyStatus {
    init(_ path: String, _ summary: LatencySummary) {
        self.init()
        self.path = path
        averageMicroseconds = Int(summary.average.nanoseconds / 1000)
        medianMicroseconds = Int(summary.median.nanoseconds / 1000)
        percentile99Microseconds = Int(summary.percentile99.nanoseconds / 1000)
        maximumMicroseconds = Int(summary.maximum.nanoseconds / 1000)
        distribution.bounds = LatencySummary.bounds
        distribution.atMost = summary.atMost.indices.map { summary.atMost[$0] }
        distribution.count = summary.count
        distribution.totalMicroseconds = summary.total
    }
}
