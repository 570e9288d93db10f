internal import LinuxSystem
package import MediaCore

/// What feeds wait on: time that passes, until somebody says stop.
package protocol FeedClock: Sendable {
    func now() -> MediaTime
    /// Waits until `deadline`; false when it was told to stop, before or while it waited.
    func wait(until deadline: MediaTime) -> Bool
}

/// The monotonic clock with a stop that wakes waiting threads and polling readers alike. Any thread may use it.
package final class StopSignal: FeedClock {
    private let stopped = Monitor(false)
    private let event: EventDescriptor

    /// Readable once stopped; for `poll`.
    package var descriptor: CInt { event.raw }

    package init() throws(InputError) {
        do {
            event = try EventDescriptor()
        } catch {
            throw InputError("cannot create an event descriptor: \(error)")
        }
    }

    /// Stops everything that waits, now and later.
    package func stop() {
        stopped.signal { $0 = true }
        event.signal()
    }

    package var isStopped: Bool { stopped.withLock { $0 } }

    package func now() -> MediaTime { MonotonicClock().now() }

    package func wait(until deadline: MediaTime) -> Bool {
        stopped.wait(until: deadline) { $0 ? true : nil } == nil
    }
}
