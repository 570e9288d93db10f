internal import LinuxSystem
internal import MediaCore

/// Finds the data thread that has been in one piece of work for too long. Pure: callers pass the time.
///
/// A thread may wait for work without a limit: a screen may stand still, a client may be paused or absent.
struct ProgressWatch {
    /// A thread without progress.
    struct Stuck: Equatable {
        var name: String
        /// The time that it has been in the same piece of work.
        var since: MediaTime
        var limit: MediaTime
    }

    /// The most that the time between two checks counts. If it is longer, the process was stopped or the machine slept.
    private static let longestStep = MediaTime.seconds(1)

    /// The most time that a piece of work may take.
    let patience: MediaTime
    /// The thread of this round that has been stuck longest; nil if all make progress.
    private(set) var stuck: Stuck?
    private var lastLook: MediaTime?
    private var step = MediaTime.zero

    init(patience: MediaTime) { self.patience = patience }

    /// Begins a round of checks.
    mutating func begin(at now: MediaTime) {
        step = min(lastLook.map { now - $0 } ?? .zero, Self.longestStep)
        lastLook = now
        stuck = nil
    }

    /// Checks one thread; call it once per thread and round. Allocates nothing while the thread makes progress.
    mutating func look(at mark: WorkMark) {
        guard let (inside, allowance) = mark.look(after: step) else { return }
        let limit = patience + allowance
        guard inside >= limit, inside > stuck?.since ?? .zero else { return }
        stuck = Stuck(name: mark.name, since: inside, limit: limit)
    }
}
