internal import LinuxSystem
package import MediaCore

/// The clock of feeds: its waits end at their deadline or at a stop.
package protocol FeedClock: Sendable {
    func now() -> MediaTime
    /// The time since 1970. It may step.
    func sinceEpoch() -> MediaTime
    /// Waits until `deadline`. Returns false if a stop came before or during the wait.
    func wait(until deadline: MediaTime) -> Bool
}

/// The monotonic clock with a stop that wakes both waiting threads and polling readers. Any thread.
package final class StopSignal: FeedClock {
    private let stopped = Monitor(false)
    private let event: EventDescriptor

    /// For `poll`: readable after `stop`.
    package var descriptor: CInt { event.raw }

    package init() throws(InputError) {
        do {
            event = try EventDescriptor()
        } catch {
            throw InputError("cannot create an event descriptor: \(error)")
        }
    }

    /// Ends all current and later waits.
    package func stop() {
        stopped.signal { $0 = true }
        event.signal()
    }

    package var isStopped: Bool { stopped.withLock { $0 } }

    package func now() -> MediaTime { MonotonicClock().now() }
    package func sinceEpoch() -> MediaTime { UnixTime.now }

    package func wait(until deadline: MediaTime) -> Bool {
        stopped.wait(until: deadline) { $0 ? true : nil } == nil
    }
}
