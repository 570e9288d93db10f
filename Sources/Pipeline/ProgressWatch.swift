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
    private var seen: [ObjectIdentifier: (number: UInt64, inside: MediaTime)] = [:]
    private var lastLook: MediaTime?

    init(patience: MediaTime) { self.patience = patience }

    /// Looks at every thread there is; the one that has been stuck longest, or nil where all get on.
    mutating func look(_ marks: [WorkMark], at now: MediaTime) -> Stuck? {
        let step = min(lastLook.map { now - $0 } ?? .zero, Self.longestStep)
        lastLook = now
        var stuck: Stuck?
        var next: [ObjectIdentifier: (number: UInt64, inside: MediaTime)] = [:]
        for mark in marks {
            guard let piece = mark.current else { continue }
            let id = ObjectIdentifier(mark)
            var inside = MediaTime.zero
            if let before = seen[id], before.number == piece.number { inside = before.inside + step }
            next[id] = (piece.number, inside)
            let limit = patience + piece.allowance
            if inside >= limit, inside > stuck?.since ?? .zero {
                stuck = Stuck(name: mark.name, since: inside, limit: limit)
            }
        }
        seen = next
        return stuck
    }
}
