internal import Encoding
internal import MediaCore

/// Decides when a broadcast gives up memory, and when it takes it back. Pure: callers pass the memory that is left.
///
/// Gives up one step per call while too little is left. Takes a step back after it has fitted with spare room for a
/// while; this time doubles after each step that had to be given up again soon.
struct MemoryGovernor: Sendable {
    enum Move: Equatable, Sendable {
        case giveUp(MemoryStep)
        case takeBack(MemoryStep)
    }

    /// The steps in order with the bytes that they save; steps that save nothing are left out.
    let steps: [(step: MemoryStep, savedBytes: Int)]
    /// The number of steps that are given up.
    private(set) var taken = 0
    /// The number of all moves in each direction.
    private(set) var givenUp = 0
    private(set) var takenBack = 0

    private var calmSince: MediaTime?
    private var calm = Self.shortestCalm
    private var lastTakenBack: MediaTime?

    static let shortestCalm = MediaTime.seconds(30)
    static let longestCalm = MediaTime.seconds(600)

    init(steps: [(step: MemoryStep, savedBytes: Int)]) { self.steps = steps.filter { $0.savedBytes > 0 } }

    /// The reserve that must stay free: 1/32 of the limit.
    static func reserve(of limit: Int) -> Int { limit / 32 }

    /// Decides the next move. Called several times a second.
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

    /// The steps that are given up, in order, with the bytes that they save.
    var current: [(step: MemoryStep, savedBytes: Int)] { Array(steps.prefix(taken)) }
}

extension MemoryStep {
    /// The additional bitrate for the same picture, in per cent.
    var bitratePercent: Int { self == .noSubpixelMotion ? VideoEncoder.subpixelMotionPercent : 0 }
}
