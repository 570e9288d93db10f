internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Between a destination's attempts: whether there is another one, and when. Its thread only.
final class AttemptSchedule {
    /// From a failure to the attempt that a change of the network hastens: addresses and routes can change many times a
    /// second without the network having been away.
    private static let networkPause = MediaTime.seconds(1)

    private let destination: Destination
    private let control: PublishControl
    private let retry: RetrySignal
    private var random = SystemRandomNumberGenerator()
    private var backoff: Backoff
    private var hasTriedSinceStop = false

    private var clock: any TimeSource { destination.clock }

    init(_ destination: Destination, control: PublishControl, retry: RetrySignal) {
        self.destination = destination
        self.control = control
        self.retry = retry
        backoff = Backoff(destination.settings.reconnect)
    }

    /// From 1 since media last flowed.
    var attempt: Int { backoff.attempts + 1 }

    /// A connection that has lasted for as long has ended; the next failure may be the first one again.
    func noteConnection(lasting: MediaTime) { if lasting >= backoff.policy.healthyAfter { backoff.reset() } }

    /// How long to wait before the next attempt; nil where there is to be none.
    ///
    /// - Parameter hasWorked: packets have flowed to this destination.
    func delay(after error: PublishError, hasWorked: Bool) -> MediaTime? {
        guard !error.isFinal(hasWorked: hasWorked) else { return nil }
        return backoff.next(using: &random)
    }

    /// Tells of the failure and waits; false where there is nothing to try again for.
    ///
    /// - Parameter connections: short ones in a row, where that is news.
    func wait(_ delay: MediaTime, after error: PublishError, flapping connections: Int?) -> Bool {
        // Whoever has removed it wants to hear no more of it.
        if destination.state.withLock({ $0.isCancelled || $0.isLeaving }) { return false }
        // What was said while there was a connection was not meant for this pause.
        _ = retry.take()
        let begin = clock.now()
        var next = begin + delay
        let noted = destination.noted(error, "trying again in \(delay)")
        destination.state.withLock { $0.snapshot.nextAttempt = next }
        destination.enter(.reconnecting)
        destination.onEvent(.retrying(noted, attempt: backoff.attempts, after: delay))
        if let connections { destination.onEvent(.flapping(noted, connections: connections)) }
        defer { destination.state.withLock { $0.snapshot.nextAttempt = nil } }
        while true {
            let (isOver, isStopping) = destination.state.withLock {
                ($0.isCancelled || $0.isLeaving, $0.stopDeadline != nil)
            }
            if isOver { return false }
            // A stop is a reason to try at once; where that fails, the next attempt has its pause again.
            if isStopping, !hasTriedSinceStop {
                hasTriedSinceStop = true
                return true
            }
            destination.work?.end()
            let readiness = control.wait(for: POLLIN, on: retry.descriptor, until: next)
            destination.work?.begin()
            switch readiness {
            case .timeout: return true
            case .cancelled: return false
            case .ready: break
            }
            switch retry.take() {
            case .asked where !isStopping && destination.state.withLock({ $0.stopDeadline == nil }):
                destination.notice("trying again now, as asked")
                return true
            case .network where next > begin + Self.networkPause:
                next = begin + Self.networkPause
                destination.state.withLock { $0.snapshot.nextAttempt = next }
                destination.notice("trying again soon, because the machine's network has changed")
            case .asked, .network, nil: break
            }
        }
    }
}
