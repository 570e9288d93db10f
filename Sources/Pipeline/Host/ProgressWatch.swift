internal import LinuxSystem
internal import MediaCore

/// Finds the data thread that has been in one piece of work for too long. Pure: it is told the time.
///
/// A thread that waits for work is well, however long it waits: a screen may stand still, a client be paused or absent.
struct ProgressWatch {
    /// A thread that does not get on.
    struct Stuck: Equatable {
        var name: String
        /// How long it has been seen in the same piece of work.
        var since: MediaTime
        var limit: MediaTime
    }

    /// A look that comes later than this after the one before it saw nothing of what lay between: the whole process was
    /// stopped, or the machine slept.
    private static let longestStep = MediaTime.seconds(1)

    /// What a piece of work may take.
    let patience: MediaTime
    /// Of the threads looked at in this round, the one that has been stuck longest; nil where all get on.
    private(set) var stuck: Stuck?
    private var lastLook: MediaTime?
    private var step = MediaTime.zero

    init(patience: MediaTime) { self.patience = patience }

    /// Begins a round of looks.
    mutating func begin(at now: MediaTime) {
        step = min(lastLook.map { now - $0 } ?? .zero, Self.longestStep)
        lastLook = now
        stuck = nil
    }

    /// Looks at one thread; each is to be looked at once in a round. Allocates nothing while it gets on.
    mutating func look(at mark: WorkMark) {
        guard let (inside, allowance) = mark.look(after: step) else { return }
        let limit = patience + allowance
        guard inside >= limit, inside > stuck?.since ?? .zero else { return }
        stuck = Stuck(name: mark.name, since: inside, limit: limit)
    }
}
