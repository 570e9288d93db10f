internal import MediaCore

/// Finds out for how long the ingest thread did not run: the process was stopped, or swapped out. Pure.
///
/// No client may be late because of that: what it has sent meanwhile was not read.
struct Standstill {
    private var lastWake: MediaTime
    /// Threads wake a little late on a busy machine.
    private static let slack = MediaTime.milliseconds(500)
    /// A turn takes a few hundredths of a second (`IngestTurn`). Whatever a client makes it take is the client's time.
    private static let longestTurn = MediaTime.seconds(5)

    init(now: MediaTime) { lastWake = now }

    /// The thread has waited, and wakes.
    ///
    /// - Parameters:
    ///   - began: when it began to wait.
    ///   - limit: the longest time that it wanted to wait; nil for no limit. Then nobody can be late.
    /// - Returns: the time that is nobody's fault but the daemon's; zero for none.
    mutating func wake(began: MediaTime, now: MediaTime, limit: MediaTime?) -> MediaTime {
        defer { lastWake = now }
        guard let limit else { return .zero }
        let (worked, beyond) = (began - lastWake, now - began - limit)
        return (worked > Self.longestTurn ? worked : .zero) + (beyond > Self.slack ? beyond : .zero)
    }
}
