package import MediaCore

/// Finds out for how long a thread did not run: the process was stopped, or swapped out. Pure.
///
/// Nobody whom the thread waits for may be late because of that: what they have done meanwhile was not seen.
package struct Standstill {
    private var lastWake: MediaTime
    private let longestTurn: MediaTime?
    /// Threads wake a little late on a busy machine.
    private static let slack = MediaTime.milliseconds(500)

    /// - Parameters:
    ///   - now: the time of the clock.
    ///   - longestTurn: what the thread may take between two waits because of others; nil for any time.
    package init(now: MediaTime, longestTurn: MediaTime?) { (lastWake, self.longestTurn) = (now, longestTurn) }

    /// The thread has waited, and wakes.
    ///
    /// - Parameters:
    ///   - began: when it began to wait.
    ///   - limit: the longest time that it wanted to wait; nil for no limit. Then nobody can be late.
    /// - Returns: the time that is nobody's fault but the daemon's; zero for none.
    package mutating func wake(began: MediaTime, now: MediaTime, limit: MediaTime?) -> MediaTime {
        defer { lastWake = now }
        guard let limit else { return .zero }
        let (worked, beyond) = (began - lastWake, now - began - limit)
        return (longestTurn.map { worked > $0 } ?? false ? worked : .zero) + (beyond > Self.slack ? beyond : .zero)
    }
}
