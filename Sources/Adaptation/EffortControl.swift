package import MediaCore

/// The effort that the encoder uses from now on, because the processor is overloaded or no longer is.
package struct EffortStep: Equatable, Sendable {
    package var effort: VideoEffort
    /// Per cent of the last second in which the video thread encoded, and frames that were superseded meanwhile.
    package var busyPercent: Int
    package var superseded: Int
    package var isLower: Bool
}

/// Decides how much effort the encoder can afford. Pure; it is told of each frame that was encoded.
///
/// The effort falls as soon as encoding takes nearly all of the available time, which is before frames are lost. It
/// falls by one step, or by as many as the lost frames suggest. It rises by one step when the better effort would have
/// fitted with room to spare for a while. That while doubles each time that a rise soon proved wrong. The time is that
/// of the clock, not of the processor: a thread that waits for a core, or whose cgroup has used up its quota, has less
/// of it.
package struct EffortControl: Sendable {
    package let configured: VideoEffort
    package private(set) var effort: VideoEffort

    private let isAdaptive: Bool
    private var since: MediaTime?
    private var busy = MediaTime.zero
    private var encoded = 0
    private var supersededBefore: UInt64 = 0
    private var calmSince: MediaTime?
    private var calm = Self.shortestCalm
    private var raisedAt: MediaTime?

    static let window = MediaTime.seconds(1)
    static let shortestCalm = MediaTime.seconds(10)
    static let longestCalm = MediaTime.seconds(300)
    /// The load from which the effort falls, as a share of a window. Frames are superseded from 1 on.
    private static let full = 0.9
    /// Below this load, superseded frames came in a burst. From here on, the processor is the cause.
    private static let fullWithLosses = 0.7
    private static let roomy = 0.65

    package init(_ configured: VideoEffort, isAdaptive: Bool) {
        self.configured = configured
        self.isAdaptive = isAdaptive
        effort = configured
    }

    /// Notes an encoded frame.
    ///
    /// - Parameters:
    ///   - took: the time for encoding, on the monotonic clock, which shows `now`.
    ///   - superseded: frames that newer ones have replaced since the broadcast began; called once a second.
    /// - Returns: the change; nil for none.
    package mutating func note(took: MediaTime, now: MediaTime, superseded: () -> UInt64) -> EffortStep? {
        guard isAdaptive else { return nil }
        guard let begin = since else {
            (since, supersededBefore) = (now, superseded())
            return nil
        }
        busy += took
        encoded += 1
        guard now - begin >= Self.window else { return nil }
        let total = superseded()
        let lost = Int(clamping: total &- supersededBefore)
        let load = busy.secondsAsDouble / (now - begin).secondsAsDouble
        // If encoding leaves time, a burst may have superseded most of the lost frames.
        let delivered = load >= Self.full ? Double(encoded) / Double(encoded + lost) : 1
        (since, busy, encoded, supersededBefore) = (now, .zero, 0, total)
        let isLower = load >= Self.full || lost > 1 && load >= Self.fullWithLosses
        guard isLower ? lower(delivered: delivered, at: now) : raise(load, at: now) else { return nil }
        return EffortStep(effort: effort, busyPercent: Int(load * 100), superseded: lost, isLower: isLower)
    }

    /// - Parameter delivered: the share of the frames that were encoded, at the present effort.
    private mutating func lower(delivered: Double, at now: MediaTime) -> Bool {
        calmSince = nil
        let cheaper = VideoEffort.allCases.filter { $0 < effort }
        guard let cheapest = cheaper.first else { return false }
        if let raisedAt { calm = now - raisedAt < calm ? min(calm + calm, Self.longestCalm) : Self.shortestCalm }
        // A rise can prove wrong only once.
        raisedAt = nil
        effort = cheaper.last { $0.cost <= effort.cost * delivered } ?? cheapest
        return true
    }

    private mutating func raise(_ load: Double, at now: MediaTime) -> Bool {
        // Other superseded frames exceed the canvas's frame rate, or came in a burst.
        guard effort < configured, let higher = VideoEffort.allCases.first(where: { $0 > effort }),
            load * higher.cost / effort.cost <= Self.roomy
        else {
            calmSince = nil
            return false
        }
        guard let calmSince else {
            self.calmSince = now
            return false
        }
        guard now - calmSince >= calm else { return false }
        self.calmSince = nil
        raisedAt = now
        effort = higher
        return true
    }
}

extension VideoEffort {
    /// Processor time of encoding, relative to x264's veryfast (docs/performance.md).
    fileprivate var cost: Double {
        switch self {
        case .low: 0.61
        case .normal: 0.66
        case .high: 0.80
        }
    }
}
