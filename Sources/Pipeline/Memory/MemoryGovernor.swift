internal import Encoding
internal import MediaCore

/// What a broadcast can do without when memory runs short, in the order in which it is given up, which is that of what
/// viewers lose for each megabyte: first what only a bad network needs, then what only a slow encoder needs, at last
/// quality.
enum MemoryStep: String, CaseIterable, Sendable {
    /// Half of the packet log, and of the delay what the log then still holds.
    case halfLog = "half_log"
    /// The smallest log with which a late destination can jump to a keyframe; no delay.
    case leastLog = "least_log"
    /// Two pictures instead of three.
    case twoPictures = "two_pictures"
    /// One encoder thread.
    case oneThread = "one_thread"
    /// The encoder without subpixel motion.
    case noSubpixelMotion = "no_subpixel_motion"

    /// Per cent more bits that viewers would have to be sent for the same picture.
    var bitratePercent: Int { self == .noSubpixelMotion ? VideoEncoder.subpixelMotionPercent : 0 }
}

/// Decides when a broadcast gives something up for want of memory, and when it takes it back: pure, fed with looks at
/// what is left.
///
/// Down at once, a step at a look while too little is left; up only when the step has fitted with room to spare for a
/// while, which doubles each time that this was soon found to be wrong.
struct MemoryGovernor: Sendable {
    enum Move: Equatable, Sendable {
        case giveUp(MemoryStep)
        case takeBack(MemoryStep)
    }

    /// What each step saves, in order; those that save nothing are not there.
    let steps: [(step: MemoryStep, savedBytes: Int)]
    /// How many of the steps have been taken.
    private(set) var taken = 0
    /// Moves ever made, in each direction.
    private(set) var givenUp = 0
    private(set) var takenBack = 0

    private var calmSince: MediaTime?
    private var calm = Self.shortestCalm
    private var lastTakenBack: MediaTime?

    static let shortestCalm = MediaTime.seconds(30)
    static let longestCalm = MediaTime.seconds(600)

    init(steps: [(step: MemoryStep, savedBytes: Int)]) { self.steps = steps.filter { $0.savedBytes > 0 } }

    /// What must stay free: a thirty-second of the limit.
    static func reserve(of limit: Int) -> Int { limit / 32 }

    /// A look, some times a second; returns what is to be done now.
    mutating func look(_ room: MemoryRoom, at now: MediaTime) -> Move? {
        let reserve = Self.reserve(of: room.limit)
        if room.left < reserve {
            calmSince = nil
            guard taken < steps.count else { return nil }
            if let lastTakenBack {
                calm = now - lastTakenBack < calm ? min(calm + calm, Self.longestCalm) : Self.shortestCalm
            }
            taken += 1
            givenUp += 1
            return .giveUp(steps[taken - 1].step)
        }
        guard taken > 0, room.left - steps[taken - 1].savedBytes >= 2 * reserve else {
            calmSince = nil
            return nil
        }
        guard let since = calmSince else {
            calmSince = now
            return nil
        }
        guard now - since >= calm else { return nil }
        calmSince = nil
        lastTakenBack = now
        taken -= 1
        takenBack += 1
        return .takeBack(steps[taken].step)
    }

    /// What has been given up, in order, and what that saves.
    var current: [(step: MemoryStep, savedBytes: Int)] { Array(steps.prefix(taken)) }
}
