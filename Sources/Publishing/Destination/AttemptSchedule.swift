internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// Decides whether and when a destination makes another attempt, and waits for it. Destination's thread only.
final class AttemptSchedule {
    /// The least time from a failure to an attempt after a network change. Addresses and routes can change many times a
    /// second although the network works.
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

    /// The number of the current attempt, from 1 since media last flowed.
    var attempt: Int { backoff.attempts + 1 }

    /// Notes how long a connection has lasted; after `healthyAfter`, the backoff starts again.
    func noteConnection(lasting: MediaTime) { if lasting >= backoff.policy.healthyAfter { backoff.reset() } }

    /// Returns the time to wait before the next attempt; nil if there is none.
    ///
    /// - Parameter hasWorked: whether packets have flowed to this destination.
    func delay(after error: PublishError, hasWorked: Bool) -> MediaTime? {
        guard !error.isFinal(hasWorked: hasWorked) else { return nil }
        return backoff.next(using: &random)
    }

    /// Reports the failure and waits. Returns false if there is no further attempt.
    ///
    /// - Parameter connections: the number of short connections in a row, if it is to be reported now.
    func wait(_ delay: MediaTime, after error: PublishError, flapping connections: Int?) -> Bool {
        // A destination that is being removed reports nothing more.
        if destination.state.withLock({ $0.isCancelled || $0.isLeaving }) { return false }
        // Signals from the time of the connection do not shorten this wait.
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
            // A stop triggers one attempt at once. If it fails, the next one waits for its delay again.
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
