internal import Buffering
internal import ControlProtocol
internal import IngestProtocol
internal import Logging
internal import Measurement
internal import MediaCore
internal import Publishing

/// Translates a destination's events and state for the log, the client and the operator's status.
extension DestinationEvent {
    /// - Parameter isFlapping: whether the destination has repeatedly gone live and been closed.
    func log(to logger: Logger, name: String, isFlapping: Bool) {
        switch self {
        case .state(.publishing): logger.tell(.destinationLive(destination: name, isFlapping: isFlapping))
        case .state(let state):
            logger.debug("destination state", metadata: ["destination": "\(name)", "state": "\(state.rawValue)"])
        case .failed(let error):
            logger.tell(
                .destinationFailed(
                    destination: name, cause: error.cause, why: error.failure, now: error.whatFollows))
        case .retrying(let error, let attempt, _):
            logger.tell(
                .destinationRetrying(
                    destination: name, attempt: attempt, cause: error.cause, why: error.failure,
                    now: error.whatFollows))
        case .flapping(let error, let connections):
            logger.tell(.destinationFlapping(destination: name, connections: connections, why: error.failure))
        case .notice(let sentence): logger.tell(.destinationNotice(destination: name, what: sentence))
        case .warning(let sentence): logger.tell(.destinationWarning(destination: name, what: sentence))
        }
    }
}

extension PublishError {
    fileprivate var whatFollows: String? { consequence.isEmpty ? nil : consequence }
}

extension DestinationSnapshot {
    func status(at now: MediaTime) -> DestinationStatus {
        var status = DestinationStatus()
        status.name = name
        status.kind = kind
        status.url = location
        status.state =
            switch state {
            case .idle: .idle
            case .connecting: .connecting
            case .publishing, .stopping: link.congestedSince == nil ? .live : .congested
            case .reconnecting: .reconnecting
            case .stopped: .closed
            case .failed: .failed
            }
        let begin = status.state == .congested ? link.congestedSince ?? since : since
        status.stateMilliseconds = Int((now - begin).milliseconds)
        status.downMilliseconds = downSince.map { Int(max(.zero, now - $0).milliseconds) } ?? 0
        status.bytesSent = Int(clamping: bytesSent)
        status.packetsSent = video.packets + audio.packets
        status.bytesAcknowledged = Int(clamping: bytesAcknowledged ?? 0)
        status.connects = connects
        status.failures = FailureCause.allCases.map { Counter($0.rawValue, failures[$0] ?? 0) }
        status.nextAttemptMilliseconds = nextAttempt.map { Int(max(.zero, $0 - now).milliseconds) } ?? 0
        status.lagMilliseconds = Int(link.lateness.milliseconds)
        status.drops = Track.allCases.flatMap { track in
            DropCause.allCases.map { Counter("\(track)_\($0.rawValue)", drops[track][$0]) }
        }
        status.backlogMilliseconds = Int(backlog.duration.milliseconds)
        status.backlogBytes = backlog.bytes
        // The planned time of an attempt is obsolete after the attempt.
        let isPending = state == .reconnecting || state == .failed
        status.lastError = isPending ? lastError?.description : lastError?.failure
        status.lastErrorAgeMilliseconds = lastErrorAt.map { Int(max(.zero, now - $0).milliseconds) } ?? 0
        status.shortConnections = shortConnections
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
