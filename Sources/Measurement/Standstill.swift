package import MediaCore

/// Finds out how long a thread did not run because the process was stopped or swapped out. Pure.
///
/// A peer that the thread waits for must not count as late for that time, because the thread did not see what the peer
/// did.
package struct Standstill {
    private var lastWake: MediaTime
    private let longestTurn: MediaTime?
    /// Threads wake a little late on a busy machine.
    private static let slack = MediaTime.milliseconds(500)

    /// - Parameters:
    ///   - now: the time of the clock.
    ///   - longestTurn: how long peers can keep the thread busy between two waits; nil for any time.
    package init(now: MediaTime, longestTurn: MediaTime?) { (lastWake, self.longestTurn) = (now, longestTurn) }

    /// Notes that the thread has waited, and wakes.
    ///
    /// - Parameters:
    ///   - began: when it began to wait.
    ///   - limit: the longest time that it wanted to wait; nil for no limit. Without a limit, no peer can be late.
    /// - Returns: the time for which only the daemon is to blame; zero for none.
    package mutating func wake(began: MediaTime, now: MediaTime, limit: MediaTime?) -> MediaTime {
        defer { lastWake = now }
        guard let limit else { return .zero }
        let (worked, beyond) = (began - lastWake, now - began - limit)
        return (longestTurn.map { worked > $0 } ?? false ? worked : .zero) + (beyond > Self.slack ? beyond : .zero)
    }
}
