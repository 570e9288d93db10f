internal import MediaCore

/// Finds the bitrate that one destination's link carries. Pure: reports in, targets out.
///
/// When packets are late, the target falls below the measured rate of the link, so that the queue empties, and then
/// settles somewhat below that rate. It rises again by trials, which grow as long as they show a better link, and
/// become rarer while they do not. While nothing moves on a link, nothing is concluded: a lower bitrate would not move
/// it either, and the cursor sheds packets. Below the floor, fewer frames are sent, and the picture gets no worse.
package struct BitrateController {
    package struct Limits: Equatable, Sendable {
        /// Video bits a second when no link limits them.
        var ceiling: Int
        /// Below this bitrate, the frame rate falls instead.
        var floor: Int
        /// Bits a second of audio, which uses the same link.
        var audio: Int
        /// The lowest frame rate is one frame in this many.
        var maximumDivisor = 4

        /// The lowest target, from the lowest bitrate and frame rate together.
        var bottom: Int { max(20_000, floor / maximumDivisor) }

        package init(ceiling: Int, floor: Int, audio: Int) {
            self.ceiling = ceiling
            self.floor = floor
            self.audio = audio
        }
    }

    /// Packets that stay this late mean congestion. OBS's dynamic bitrate begins at 200 ms of queue; here, half a
    /// second of audio on its way must not start it.
    static let congestedLag = MediaTime.milliseconds(300)
    /// A trial that makes packets this late has failed.
    private static let failedTrialLag = MediaTime.milliseconds(200)
    /// A keyframe alone makes packets late for a moment, longer on a slower link. Lateness therefore counts only if it
    /// lasts for `patience` or reaches `severeLag`.
    private static let patience = MediaTime.milliseconds(350)
    private static let severeLag = MediaTime.milliseconds(700)
    /// A queue below this lag empties soon, even if only the excess is given up.
    private static let mildLag = MediaTime.milliseconds(450)
    /// The least lag that is assumed for a link on which packets were shed.
    private static let sheddingLag = MediaTime.seconds(1)
    /// Below this lag, packets are on time.
    static let calmLag = MediaTime.milliseconds(150)
    /// While a trial makes packets later by more than this, it has shown nothing yet.
    private static let trialLag = MediaTime.milliseconds(30)
    /// The time that a queue gets to shrink after a step down, a new connection or a stall. The encoder alone needs a
    /// second to use fewer bits.
    private static let settling = MediaTime.seconds(2)
    private static let severeSettling = MediaTime.seconds(1)
    /// The share of the measured rate that is used while a queue empties: lower for a longer queue. Afterwards,
    /// `settledShare` applies.
    private static let emptyingShares = 0.6...0.8
    /// The least share of the old target. What is measured while a link becomes worse is less than it carries, because
    /// segments were lost and sent again.
    private static let largestFall = 0.4
    private static let settledShare = 0.87
    /// A link on which nothing has left for this long shows nothing now: it may be slow and move in bursts, or stand
    /// still.
    private static let stillness = MediaTime.milliseconds(250)
    /// Fewer bytes are no movement: a closed window takes a segment now and then.
    private static let movement: UInt64 = 2048
    /// A link on which nothing has left for this long has stalled.
    private static let stall = MediaTime.milliseconds(1500)
    /// A rate below this share of the target is too low to be taken for what the link carries.
    private static let meaningfulShare = 0.1
    /// A new connection with such a low rate is likelier to hang than to be slow, and so is the next. It counts as slow
    /// only when it has outlived the usual deadline.
    private static let probation = MediaTime.seconds(6)
    /// The duration of a trial: the encoder needs a second to use more bits, and the rate is that of the last second.
    private static let trial = MediaTime.milliseconds(2500)
    /// If at least this share of the target goes through, the trial has shown that the link carries it.
    private static let testedShare = 0.85
    /// A still screen uses less than this share of the target. The next step then does not wait for more use.
    private static let unusedShare = 0.4
    /// The rate must exceed the known one by this factor to show a better link, and not just luck.
    private static let betterShare = 1.02
    private static let clearlyBetterShare = 1.06
    /// A keyframe whose rate over this time is `betterBurstShare` of the known rate may be the first sign of a better
    /// link.
    private static let burst = MediaTime.milliseconds(80)
    private static let betterBurstShare = 1.6
    /// The pause before a trial, at first and at most. Each fall doubles it; a fall to another link resets it.
    private static let firstPause = MediaTime.seconds(2)
    private static let longestPause = MediaTime.seconds(20)
    /// The longest pause after a trial that has shown nothing. With it, a better link is used within a minute or so,
    /// even without keyframes that show it.
    private static let trialPause = MediaTime.seconds(5)
    private static let firstStep = 0.08
    private static let largestStep = 1.0

    let limits: Limits
    /// Video bits a second for this link.
    private(set) var target: Int
    /// Why the target has its value, for people.
    private(set) var reason = "as configured"

    private var connection = 0
    private var connectedAt = MediaTime.zero
    private var shedPackets = 0
    private var samples: [(time: MediaTime, bytes: UInt64)] = []
    private var lastMovement = MediaTime.zero
    /// The breaks of at least `stillness`, over all connections: they belong to the link.
    private var briefStalls = BriefStalls()
    /// The time of the last report, and whether bytes were outstanding then.
    private var lastReport = MediaTime.zero
    private var hadOutstanding = false
    /// Bytes delivered at `lastMovement`.
    private var moved: UInt64 = 0
    /// Since when packets have been late without a break.
    private var lateSince: MediaTime?
    private var knownRate = KnownRate()
    private var fastKeyframes = FastKeyframes()
    private var state = State.steady
    private var nextTrial = MediaTime.zero
    private var pause = firstPause
    private var step = firstStep

    private enum State {
        /// The target stays until the next trial.
        case steady
        /// A target above the known rate is tried. If it is a little too high, packets become later than `lagBefore`,
        /// their lag when the trial began.
        case trial(lagBefore: MediaTime)
        /// A queue empties: after a step down, a stall or a new connection.
        case emptying(Queue)
    }

    private struct Queue {
        /// The lag at the last step, and the lowest one since.
        let lag: MediaTime
        var least: MediaTime
        /// Whether packets were shed meanwhile, which shortens the queue but is no success.
        var hasShed = false
        /// When the next step may come.
        let until: MediaTime
        /// The target before the present series of steps down, to which it returns if the connection breaks; nil if
        /// there was no step down.
        let beforeFall: Int?
        /// The lag before a trial that a stall has interrupted.
        var lagBeforeTrial: MediaTime?
        /// A brief stall has made the queue. It delays no trial, because brief stalls may be frequent.
        let isBrief: Bool
    }

    /// The known rate in bits a second, with audio; nil if no limit is known.
    private var known: Double? { knownRate.value }

    private var queue: Queue? { if case .emptying(let queue) = state { queue } else { nil } }

    private var lagBeforeTrial: MediaTime? {
        switch state {
        case .steady: nil
        case .trial(let lag): lag
        case .emptying(let queue): queue.lagBeforeTrial
        }
    }

    init(_ limits: Limits) {
        self.limits = limits
        target = limits.ceiling
        samples.reserveCapacity(32)
    }

    /// Evaluates a report and updates `target`. Ten reports a second are expected.
    mutating func note(_ report: LinkReport) {
        guard report.isPublishing else { return }
        var report = report
        // Shed packets are not late any more, but they were.
        let hasShed = report.shedPackets > shedPackets
        if hasShed { report.lag = max(report.lag, Self.sheddingLag) }
        shedPackets = report.shedPackets
        if report.connection != connection { begin(report) }
        if case .emptying(var queue) = state {
            queue.least = min(queue.least, report.lag)
            queue.hasShed = queue.hasShed || hasShed
            state = .emptying(queue)
        }
        // A socket without outstanding bytes has not stalled. On a still screen, reports are rare.
        if !hadOutstanding, report.time - lastReport >= Self.stillness {
            lastMovement = max(lastMovement, report.time - report.lag)
        }
        (lastReport, hadOutstanding) = (report.time, report.outstandingBytes > 0)
        let still = report.time - lastMovement
        if hasShed { briefStalls.noteShed(isInBreak: still >= Self.stillness) }
        // A socket in which nothing is outstanding has nothing to move.
        if report.deliveredBytes >= moved + Self.movement || report.outstandingBytes == 0 {
            (moved, lastMovement) = (report.deliveredBytes, report.time)
        }
        samples.append((report.time, report.deliveredBytes))
        while samples.count > 2, report.time - samples[1].time >= .seconds(1) { samples.removeFirst() }
        // A lower bitrate would not move it either.
        if report.time - lastMovement >= Self.stillness { return }
        if still >= Self.stillness { endBreak(report, isStall: still >= Self.stall) }
        // If a server hangs, packets are late however fast they leave the socket. A lower bitrate would not help.
        if report.unacknowledged >= Self.failedTrialLag {
            endTrial()
            nextTrial = max(nextTrial, report.time + pause)
            return
        }
        guard report.time - connectedAt >= Self.settling else { return }
        let isTrial = lagBeforeTrial != nil
        if report.lag < Self.calmLag { briefStalls.noteCalm() }
        lateSince = report.lag < Self.failedTrialLag ? nil : lateSince ?? report.time
        let isLasting = lateSince.map { report.time - $0 >= Self.patience } ?? false
        if isLasting && (isTrial || report.lag >= Self.congestedLag) || report.lag >= Self.severeLag {
            congested(report)
        } else if report.lag < Self.calmLag {
            calm(report)
        }
    }

    /// A new connection begins with a keyframe that may be old, and with packets that have waited for it.
    private mutating func begin(_ report: LinkReport) {
        connection = report.connection
        // What was measured before the last connection broke says little about the path, so its steps down are undone.
        if let beforeFall = queue?.beforeFall { set(beforeFall, "a new connection") }
        state = .steady
        nextTrial = report.time + pause
        connectedAt = report.time
        fastKeyframes = FastKeyframes()
        settle(report)
    }

    /// After a stall, packets that waited go out first. From here on, there is a rate again: measured over the stall,
    /// it would be less than the link carries.
    private mutating func endBreak(_ report: LinkReport, isStall: Bool) {
        let standsAlone = briefStalls.endBreak(at: report.time)
        let isBrief = standsAlone && !isStall
        if isStall || isBrief { settle(report, isBrief: isBrief) }
    }

    private mutating func settle(_ report: LinkReport, isBrief: Bool = false) {
        samples.removeAll(keepingCapacity: true)
        samples.append((report.time, report.deliveredBytes))
        (moved, lastMovement) = (report.deliveredBytes, report.time)
        empty(
            from: max(report.lag, Self.sheddingLag), report.time, beforeFall: queue?.beforeFall,
            lagBeforeTrial: lagBeforeTrial, isBrief: isBrief && queue?.isBrief ?? true)
    }

    private mutating func empty(
        from lag: MediaTime, _ now: MediaTime, beforeFall: Int?, lagBeforeTrial: MediaTime? = nil,
        isBrief: Bool = false
    ) {
        let settling = lag < Self.severeLag ? Self.settling : Self.severeSettling
        state = .emptying(
            Queue(
                lag: lag, least: lag, until: now + settling, beforeFall: beforeFall, lagBeforeTrial: lagBeforeTrial,
                isBrief: isBrief))
    }

    private mutating func endTrial() {
        switch state {
        case .steady: break
        case .trial: state = .steady
        case .emptying(var queue):
            queue.lagBeforeTrial = nil
            state = .emptying(queue)
        }
    }

    /// Bits a second over the last `span`; nil if the samples cover less than half of it.
    private func rate(over span: MediaTime) -> Double? {
        guard let last = samples.last,
            let first = samples.last(where: { last.time - $0.time >= span }) ?? samples.first,
            last.time - first.time >= MediaTime(nanoseconds: span.nanoseconds / 2)
        else { return nil }
        return Double(last.bytes - first.bytes) * 8 / (last.time - first.time).secondsAsDouble
    }

    /// The rate that goes through now, with audio.
    private var rate: Double { rate(over: .milliseconds(1000)) ?? 0 }
    private var total: Double { Double(target + limits.audio) }

    /// Lowers the target, because packets have been late for a while.
    private mutating func congested(_ report: LinkReport) {
        let queue = queue
        if let queue {
            guard report.time >= queue.until else { return }
            // The queue shrinks, so no further step is needed.
            if !queue.hasShed, queue.least.nanoseconds < queue.lag.nanoseconds / 10 * 9 {
                return empty(
                    from: report.lag, report.time, beforeFall: queue.beforeFall,
                    lagBeforeTrial: queue.lagBeforeTrial, isBrief: queue.isBrief)
            }
        }
        // The link has been full since packets became late, and somewhat longer if that was a moment ago.
        let late = lateSince.map { report.time - $0 } ?? .zero
        let carried = rate(over: min(max(late, .milliseconds(300)), .seconds(1))) ?? 0
        let isMeaningful = carried > Double(target) * Self.meaningfulShare
        guard isMeaningful || report.time - connectedAt >= Self.probation else { return }
        if queue?.beforeFall == nil { pause = min(pause * 2, Self.longestPause) }
        let beforeFall = queue?.beforeFall ?? target
        step = Self.firstStep
        let (least, most) = (Self.emptyingShares.lowerBound, Self.emptyingShares.upperBound)
        let share = min(max(1 - report.lag.secondsAsDouble * 0.7, least), most)
        var wanted = Double(target) * share
        if isMeaningful {
            let isAsKnown = known.map { carried > $0 * Self.settledShare } ?? false
            full(carried)
            wanted = min(wanted, carried * share - Double(limits.audio))
            // If the link carries about the known rate and a trial exceeded it only slightly, the settled rate also
            // empties the queue.
            if isAsKnown, queue == nil, report.lag < Self.mildLag, let known {
                wanted = min(Double(target) * Self.settledShare, known * Self.settledShare - Double(limits.audio))
            }
        }
        set(Int(max(wanted, Double(target) * Self.largestFall)), "packets are \(report.lag) late")
        empty(from: report.lag, report.time, beforeFall: beforeFall)
        nextTrial = report.time + pause
    }

    /// Notes that the link is full at this rate.
    private mutating func full(_ rate: Double) {
        fastKeyframes.noteTested()
        // Failed trials on another link say nothing about this one.
        if !knownRate.noteFull(rate) { pause = Self.firstPause }
    }

    /// Ends an emptied queue or continues the trials, because packets are on time.
    private mutating func calm(_ report: LinkReport) {
        if let queue {
            state = queue.lagBeforeTrial.map { .trial(lagBefore: $0) } ?? .steady
            if !queue.isBrief { nextTrial = report.time + pause }
            if let known, let beforeFall = queue.beforeFall {
                let settled = Int(known * Self.settledShare) - limits.audio
                set(max(target, min(settled, beforeFall)), "the queue is empty again")
            }
            return
        }
        guard target < limits.ceiling else { return }
        if let known, let burst = rate(over: Self.burst), burst > known * Self.betterBurstShare,
            fastKeyframes.note(at: report.time)
        {
            nextTrial = min(nextTrial, report.time + Self.trial)
        }
        guard report.time >= nextTrial else { return }
        if case .trial(let lagBefore) = state {
            let use = rate / total
            // The encoder may not use the target yet, or the link may not carry it.
            guard use >= Self.testedShare || use < Self.unusedShare else { return }
            guard report.lag <= lagBefore + Self.trialLag else { return }
            if !succeeded(isUsed: use >= Self.testedShare) {
                state = .steady
                nextTrial = report.time + min(pause, Self.trialPause)
                return
            }
        }
        state = .trial(lagBefore: report.lag)
        set(Int(raised) - limits.audio, "packets are on time")
        nextTrial = report.time + Self.trial
        guard target == limits.ceiling else { return }
        state = .steady
        knownRate.noteNoLimit()
        fastKeyframes.noteNoLimit()
    }

    /// Whether the known rate allows a higher target.
    private var hasRoom: Bool { known.map { total < $0 * Self.settledShare * 0.97 } ?? false }

    /// The next rate to try, with audio. A step that begins below the known rate does not exceed it.
    private var raised: Double {
        let next = total + max(total * step, Double(limits.bottom) * Self.firstStep)
        return hasRoom ? min(next, (known ?? next) * Self.settledShare) : next
    }

    /// Evaluates a trial that has not made packets late. Below the known rate, and clearly above it, the step doubles.
    ///
    /// - Returns: whether the next step may follow at once. If the link may be full, it follows after a pause.
    private mutating func succeeded(isUsed: Bool) -> Bool {
        let doubled = min(step * 2, Self.largestStep)
        step = Self.firstStep
        guard isUsed else { return true }
        guard let known else {
            step = doubled
            return true
        }
        // In the second of a keyframe, more goes through than the average that the target asks for.
        let rate = min(rate, total)
        let isClearlyBetter = rate > max(known, knownRate.mostWhenFull) * Self.clearlyBetterShare
        if hasRoom || isClearlyBetter { step = doubled }
        guard rate > known * Self.betterShare else { return fastKeyframes.isUntested || hasRoom }
        knownRate.noteMore(rate)
        fastKeyframes.noteTested()
        // A better link is worth another trial soon. A hop with a buffer seems better until the buffer is full.
        if isClearlyBetter { pause = Self.firstPause }
        return true
    }

    private mutating func set(_ bitrate: Int, _ reason: String) {
        let bounded = min(max(bitrate, limits.bottom), limits.ceiling)
        if bounded != target { self.reason = reason }
        target = bounded
    }
}
