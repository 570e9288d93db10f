internal import MediaCore

/// Distinguishes a jump of the client's clock from samples that are late, bursty or missing.
///
/// The evidence, strongest first:
/// - *The track continues*: a block begins at the end of the last one, or a frame follows at an ordinary distance. This
///   is no jump, however late or early the sample arrives. Stalled clients and bursts are therefore never taken for
///   jumps.
/// - *Another track has taken the same step* a moment ago: this is the same jump.
/// - *The track goes back*: sound cannot overlap itself, and a frame cannot be far behind the last one. This is a jump,
///   unless the blocks have arrived at the distance of their PTS.
/// - *The track goes forward, and its sample is earlier than all recent ones*: samples can be late but not early, so
///   this is a jump. If the arrival has the same gap, it is a gap. If another track then continues evenly through the
///   skipped range, the timeline reverts the jump.
///
/// Recent samples are those of all tracks. Once one track has passed an ambiguous step, the other tracks are not early
/// any more, and stay with it.
struct StepJudge: Sendable {
    enum Verdict: Equatable {
        case goesOn
        /// The track stays in its era, after a gap or an overlap.
        case stands
        /// The sample belongs to the era with this number.
        case joins(Int)
        /// The clock has jumped by this many nanoseconds.
        case steps(Int64)
        /// The frame is before the last one. The next frame decides whether this is a jump.
        case outOfOrder
    }

    private let settings: TimelineSettings
    private let tolerance: Int64
    private static let longestExcursion: Int64 = 100_000_000

    init(_ settings: TimelineSettings) {
        self.settings = settings
        tolerance = settings.stepTolerance.nanoseconds
    }

    /// - Parameters:
    ///   - history: the history of the sample's track.
    ///   - leastLatency: the least latency of recent samples; nil if unknown.
    func judge(
        _ sample: TimelineSample, _ history: TrackHistory, in eras: ClockEras, leastLatency: Int64?
    ) -> Verdict {
        guard let own = eras[history.era] else {
            return eras.bestFit(of: sample, within: settings).map { .joins($0) } ?? .stands
        }
        let step = history.step(
            to: sample.pts, arrival: sample.arrival, tolerance: tolerance, leastLateness: leastLatency)
        if goesOn(sample, history, step) {
            return clockEra(sample, history, own, in: eras).map { .joins($0) } ?? .goesOn
        }
        if let followed = followed(history, own, step, in: eras) { return .joins(followed) }
        var change = extent(sample, history, own, step)
        let isJump: Bool
        let advance = sample.pts &- history.pts
        if sample.track == .video, advance <= 0, advance >= -settings.reorderTolerance.nanoseconds {
            // One frame may be out of order. A second one that continues from it shows where the clock is.
            guard let refused = history.refused, sample.pts &- refused.pts > 0 else { return .outOfOrder }
            change = refused.fromEnd
            isJump = true
        } else if step.fromEnd < 0 {
            isJump = step.fromArrival <= step.fromEnd / 2
        } else {
            let lateness = 0 &- sample.deviation(in: own)
            isJump = step.fromArrival > tolerance && leastLatency.map { $0 &- lateness > tolerance } ?? false
        }
        return isJump ? .steps(change) : .stands
    }

    private func goesOn(_ sample: TimelineSample, _ history: TrackHistory, _ step: TrackHistory.Step) -> Bool {
        let advance = sample.pts &- history.pts
        return sample.track == .video
            ? advance > 0 && step.fromEnd <= tolerance
            : step.fromEnd.magnitude <= tolerance.magnitude || advance == 0 && step.fromArrival >= -tolerance
    }

    /// The era that another track began because it was too far from the clock, if it also fits this track better.
    private func clockEra(
        _ sample: TimelineSample, _ history: TrackHistory, _ own: ClockEras.Era, in eras: ClockEras
    ) -> Int? {
        guard let fit = eras.bestFit(of: sample, within: settings), fit > own.number, let era = eras[fit],
            era.step == nil, isFresh(era, for: history)
        else { return nil }
        return fit
    }

    /// The era whose distance from the track's own matches the step, if the era was made or left recently.
    private func followed(
        _ history: TrackHistory, _ own: ClockEras.Era, _ step: TrackHistory.Step, in eras: ClockEras
    ) -> Int? {
        func misfit(_ change: Int64) -> UInt64 {
            min((step.fromEnd &- change).magnitude, (step.fromArrival &- change).magnitude)
        }
        // Only a clear improvement moves a track; jitter does not.
        var best: (number: Int?, misfit: UInt64) = (nil, min(misfit(0) / 2, 2 * tolerance.magnitude))
        for number in eras.numbers.reversed() where number > own.number || number == own.step?.left {
            guard let era = eras[number] else { continue }
            // A track returns to its old era only after one or two samples with a wild PTS; later, a match is chance.
            let isFresh = number > own.number
                ? isFresh(era, for: history) : history.arrival &- own.made <= Self.longestExcursion
            guard isFresh else { continue }
            let misfit = misfit(era.base &- own.base)
            if misfit < best.misfit { best = (number, misfit) }
        }
        return best.number
    }

    private func isFresh(_ era: ClockEras.Era, for history: TrackHistory) -> Bool {
        history.arrival &- era.made <= settings.followWindow.nanoseconds
    }

    /// The extent of a jump. It is exact if the sample directly follows the previous one. That is assumed unless the
    /// track would then be later than it recently was; otherwise the arrival determines the extent.
    private func extent(
        _ sample: TimelineSample, _ history: TrackHistory, _ own: ClockEras.Era, _ step: TrackHistory.Step
    ) -> Int64 {
        let lateness = sample.due &- (history.end &- own.base)
        return lateness <= history.lateness &+ tolerance ? step.fromEnd : step.fromArrival
    }
}
