internal import MediaCore

/// Finds the bitrate that one destination's link carries: pure, reports in, targets out.
///
/// Falls when packets come late, to below what the link was seen to carry, so that the queue empties; settles somewhat
/// below that; rises again by trials that grow as long as they show a better link, and come more rarely where they do
/// not. While nothing moves on a link nothing is concluded: less would not move it either, and the cursor sheds.
/// Below the floor the picture is not made worse: fewer frames are sent instead.
package struct BitrateController {
    package struct Limits: Equatable, Sendable {
        /// Bits a second of video that are asked for when nothing is in the way.
        var ceiling: Int
        /// Below this the frame rate goes down instead.
        var floor: Int
        /// Bits a second of audio, which goes over the same link.
        var audio: Int
        /// Fewest frames are a frame in so many.
        var maximumDivisor = 4

        /// The least that frame rate and bitrate together come to.
        var bottom: Int { max(20_000, floor / maximumDivisor) }

        package init(ceiling: Int, floor: Int, audio: Int) {
            self.ceiling = ceiling
            self.floor = floor
            self.audio = audio
        }
    }

    /// OBS's dynamic bitrate begins at 200 ms of queue; half a second of audio in the air must not start it.
    static let congestedLag = MediaTime.milliseconds(300)
    /// A trial that makes packets as late has failed.
    private static let failedTrialLag = MediaTime.milliseconds(200)
    /// A keyframe alone makes packets late for a moment, the longer the slower the link: it must last this long, or be
    /// as bad as that.
    private static let patience = MediaTime.milliseconds(350)
    private static let severeLag = MediaTime.milliseconds(700)
    /// A queue that is shorter empties soon without giving up more than was too much.
    private static let mildLag = MediaTime.milliseconds(450)
    /// What a link that made packets be left out counts as.
    private static let sheddingLag = MediaTime.seconds(1)
    /// Calm below this.
    static let calmLag = MediaTime.milliseconds(150)
    /// A trial that makes packets later by as much has shown nothing as yet.
    private static let trialLag = MediaTime.milliseconds(30)
    /// After a step down, the queue gets this long to show that it shrinks: the encoder needs a second to use less. So
    /// does what waited for a connection, or through a stall.
    private static let settling = MediaTime.seconds(2)
    private static let severeSettling = MediaTime.seconds(1)
    /// What is used of what the link was seen to carry: while a queue empties, the less the longer it is, and then.
    private static let emptyingShares = 0.6...0.8
    /// What was measured while a link became worse is less than what it carries: segments were lost and sent again.
    private static let largestFall = 0.4
    private static let settledShare = 0.87
    /// A link on which nothing has left for as long shows nothing now: it may be slow, and move in bursts, or stand.
    private static let stillness = MediaTime.milliseconds(250)
    /// Less is no movement: a window that is closed takes a segment now and then.
    private static let movement: UInt64 = 2048
    /// And one on which nothing has left for as long stands.
    private static let stall = MediaTime.milliseconds(1500)
    /// A rate of less of the target is too little to be taken for what the link carries.
    private static let meaningfulShare = 0.1
    /// A new connection on which so little goes through is likelier to hang than to be slow, and so is the next. It is
    /// taken for slow when it has outlived the usual deadline.
    private static let probation = MediaTime.seconds(6)
    /// A trial lasts this long: the encoder needs a second to use more, and the rate is that of the last second.
    private static let trial = MediaTime.milliseconds(2500)
    /// A trial in which so much of the target went through has shown that it does.
    private static let testedShare = 0.85
    /// A screen that stands still uses less: it needs no more, and need not wait for it either.
    private static let unusedShare = 0.4
    /// What went through must be so much of what was known to show a better link, and not just luck.
    private static let betterShare = 1.02
    private static let clearlyBetterShare = 1.06
    /// A keyframe that went through as fast may be the first sign of a better link.
    private static let burst = MediaTime.milliseconds(80)
    private static let betterBurstShare = 1.6
    /// Doubled by each fall. After a fall to another link, the pause is this one again.
    private static let firstPause = MediaTime.seconds(2)
    private static let longestPause = MediaTime.seconds(20)
    /// After a trial that has shown nothing. With this, a better link is used within a minute or so, also without
    /// keyframes that show it.
    private static let trialPause = MediaTime.seconds(5)
    private static let firstStep = 0.08
    private static let largestStep = 1.0

    let limits: Limits
    /// Bits a second of video that this link is given.
    private(set) var target: Int
    /// Why it is what it is, for people.
    private(set) var reason = "as configured"

    private var connection = 0
    private var connectedAt = MediaTime.zero
    private var shedPackets = 0
    private var samples: [(time: MediaTime, bytes: UInt64)] = []
    private var lastMovement = MediaTime.zero
    /// Of the last report.
    private var lastReport = MediaTime.zero
    private var hadOutstanding = false
    /// Bytes delivered by then.
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
        /// More is tried than what is known to go through. A little too much shows as packets that are later than
        /// `lagBefore`, which they were when it began.
        case trial(lagBefore: MediaTime)
        /// A queue empties: after a step down, a stall or a new connection.
        case emptying(Queue)
    }

    private struct Queue {
        /// How long it was at the last step, and the shortest since.
        let lag: MediaTime
        var least: MediaTime
        /// Packets that were left out shorten it, too, which is no success.
        var hasShed = false
        /// When the next step may come.
        let until: MediaTime
        /// The target before the present run of steps down, which a connection that breaks takes back; nil where none
        /// of them made the queue.
        let beforeFall: Int?
        /// Of a trial that a stall has interrupted.
        var lagBeforeTrial: MediaTime?
    }

    /// Bits a second, audio among them; nil where no limit is known.
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

    /// Takes a report into account; ten a second are expected. Afterwards `target` is what to use.
    mutating func note(_ report: LinkReport) {
        guard report.isPublishing else { return }
        var report = report
        // What has been left out is late no more, but it was.
        let hasShed = report.shedPackets > shedPackets
        if hasShed { report.lag = max(report.lag, Self.sheddingLag) }
        shedPackets = report.shedPackets
        if report.connection != connection { begin(report) }
        if case .emptying(var queue) = state {
            queue.least = min(queue.least, report.lag)
            queue.hasShed = queue.hasShed || hasShed
            state = .emptying(queue)
        }
        // A socket that had nothing to move has not stood. Still screens are reported rarely.
        if !hadOutstanding, report.time - lastReport >= Self.stillness {
            lastMovement = max(lastMovement, report.time - report.lag)
        }
        (lastReport, hadOutstanding) = (report.time, report.outstandingBytes > 0)
        let hasStood = report.time - lastMovement >= Self.stall
        // A socket in which nothing is outstanding has nothing to move.
        if report.deliveredBytes >= moved + Self.movement || report.outstandingBytes == 0 {
            (moved, lastMovement) = (report.deliveredBytes, report.time)
        }
        samples.append((report.time, report.deliveredBytes))
        while samples.count > 2, report.time - samples[1].time >= .seconds(1) { samples.removeFirst() }
        // Less would not move it either.
        if report.time - lastMovement >= Self.stillness { return }
        // What waited goes out first; and from here on there is a rate again.
        if hasStood { settle(report) }
        // What a server that hangs does not take is late, however fast it leaves the socket; less would not help it.
        if report.unacknowledged >= Self.failedTrialLag {
            endTrial()
            nextTrial = max(nextTrial, report.time + pause)
            return
        }
        guard report.time - connectedAt >= Self.settling else { return }
        let isTrial = lagBeforeTrial != nil
        lateSince = report.lag < Self.failedTrialLag ? nil : lateSince ?? report.time
        let isLasting = lateSince.map { report.time - $0 >= Self.patience } ?? false
        if isLasting && (isTrial || report.lag >= Self.congestedLag) || report.lag >= Self.severeLag {
            congested(report)
        } else if report.lag < Self.calmLag {
            calm(report)
        }
    }

    /// A new connection begins with a keyframe that may be old, and with what has waited for it.
    private mutating func begin(_ report: LinkReport) {
        connection = report.connection
        // What led to the last one's end says little of what the path carries.
        if let beforeFall = queue?.beforeFall { set(beforeFall, "a new connection") }
        state = .steady
        nextTrial = report.time + pause
        connectedAt = report.time
        fastKeyframes = FastKeyframes()
        settle(report)
    }

    private mutating func settle(_ report: LinkReport) {
        samples.removeAll(keepingCapacity: true)
        samples.append((report.time, report.deliveredBytes))
        (moved, lastMovement) = (report.deliveredBytes, report.time)
        empty(
            from: max(report.lag, Self.sheddingLag), report.time, beforeFall: queue?.beforeFall,
            lagBeforeTrial: lagBeforeTrial)
    }

    private mutating func empty(
        from lag: MediaTime, _ now: MediaTime, beforeFall: Int?, lagBeforeTrial: MediaTime? = nil
    ) {
        let settling = lag < Self.severeLag ? Self.settling : Self.severeSettling
        state = .emptying(
            Queue(
                lag: lag, least: lag, until: now + settling, beforeFall: beforeFall, lagBeforeTrial: lagBeforeTrial))
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

    /// Bits a second since the sample before the last `span`; nil where half of it has not been seen.
    private func rate(over span: MediaTime) -> Double? {
        guard let last = samples.last,
            let first = samples.last(where: { last.time - $0.time >= span }) ?? samples.first,
            last.time - first.time >= MediaTime(nanoseconds: span.nanoseconds / 2)
        else { return nil }
        return Double(last.bytes - first.bytes) * 8 / (last.time - first.time).secondsAsDouble
    }

    /// What goes through now, audio among it.
    private var rate: Double { rate(over: .milliseconds(1000)) ?? 0 }
    private var total: Double { Double(target + limits.audio) }

    /// Packets have been late for a while: less.
    private mutating func congested(_ report: LinkReport) {
        let queue = queue
        if let queue {
            guard report.time >= queue.until else { return }
            // Shrinking: nothing more is needed.
            if !queue.hasShed, queue.least.nanoseconds < queue.lag.nanoseconds / 10 * 9 {
                return empty(
                    from: report.lag, report.time, beforeFall: queue.beforeFall, lagBeforeTrial: queue.lagBeforeTrial)
            }
        }
        // The link has been full since packets are late, and for longer where that began a moment ago.
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
            // During a trial slightly above what is known to go through, what goes through also empties the queue.
            if isAsKnown, queue == nil, report.lag < Self.mildLag, let known {
                wanted = min(Double(target) * Self.settledShare, known * Self.settledShare - Double(limits.audio))
            }
        }
        set(Int(max(wanted, Double(target) * Self.largestFall)), "packets are \(report.lag) late")
        empty(from: report.lag, report.time, beforeFall: beforeFall)
        nextTrial = report.time + pause
    }

    /// The link is full at this rate.
    private mutating func full(_ rate: Double) {
        fastKeyframes.noteTested()
        // How often trials have failed on another link says nothing of this one.
        if !knownRate.noteFull(rate) { pause = Self.firstPause }
    }

    /// Packets are on time.
    private mutating func calm(_ report: LinkReport) {
        if let queue {
            state = queue.lagBeforeTrial.map { .trial(lagBefore: $0) } ?? .steady
            nextTrial = report.time + pause
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
            // The encoder has not got there yet, or the link may not.
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

    /// What is known to go through allows more.
    private var hasRoom: Bool { known.map { total < $0 * Self.settledShare * 0.97 } ?? false }

    /// What to try next: not beyond what is known in one leap.
    private var raised: Double {
        let next = total + max(total * step, Double(limits.bottom) * Self.firstStep)
        return hasRoom ? min(next, (known ?? next) * Self.settledShare) : next
    }

    /// Each step may be twice the last, up to what is known, and beyond it where it is left behind clearly.
    ///
    /// - Returns: whether the next step may follow at once: where the link may be full, it comes after a pause.
    private mutating func succeeded(isUsed: Bool) -> Bool {
        let doubled = min(step * 2, Self.largestStep)
        step = Self.firstStep
        guard isUsed else { return true }
        guard let known else {
            step = doubled
            return true
        }
        // In the second of a keyframe more goes through than is asked for on average.
        let rate = min(rate, total)
        let isClearlyBetter = rate > max(known, knownRate.mostWhenFull) * Self.clearlyBetterShare
        if hasRoom || isClearlyBetter { step = doubled }
        guard rate > known * Self.betterShare else { return fastKeyframes.isUntested || hasRoom }
        knownRate.noteMore(rate)
        fastKeyframes.noteTested()
        // A better link is worth asking again soon. A hop with a buffer seems better until that is full.
        if isClearlyBetter { pause = Self.firstPause }
        return true
    }

    private mutating func set(_ bitrate: Int, _ reason: String) {
        let bounded = min(max(bitrate, limits.bottom), limits.ceiling)
        if bounded != target { self.reason = reason }
        target = bounded
    }
}
