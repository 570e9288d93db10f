internal import MediaCore
internal import Publishing

/// Finds the bitrate that one destination's link carries: pure, reports in, targets out.
///
/// Falls when packets come late, to below what the link was seen to carry, so that the queue empties; settles at nine
/// tenths of that; rises again by trials that grow as long as they go well, and come more rarely where they do not. While
/// nothing moves on a link nothing is concluded: less would not move it either, and the cursor sheds.
/// Below the floor the picture is not made worse: fewer frames are sent instead.
struct BitrateController {
    struct Limits: Equatable {
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
    }

    /// OBS's dynamic bitrate begins at 200 ms of queue; half a second of audio in the air must not start it.
    static let congestedLag = MediaTime.milliseconds(300)
    /// What a link that made packets be left out counts as.
    private static let sheddingLag = MediaTime.seconds(1)
    /// Calm below this.
    static let calmLag = MediaTime.milliseconds(150)
    /// A trial that makes packets as late has failed, before there is congestion.
    private static let failedTrialLag = MediaTime.milliseconds(200)
    /// And one that makes them later by as much has shown nothing as yet.
    private static let trialLag = MediaTime.milliseconds(30)
    /// After a step down, the queue gets this long to show that it shrinks; and so does what waited for a connection,
    /// or through a stall.
    private static let settling = MediaTime.seconds(1)
    /// What is used while a queue empties, and when it has, of what the link was seen to carry.
    private static let emptyingShare = 0.7
    private static let settledShare = 0.9
    private static let failedShare = 0.85
    /// A link on which nothing has left for as long shows nothing now: it may be slow, and move in bursts, or stand.
    private static let stillness = MediaTime.milliseconds(250)
    /// And one on which nothing has left for as long stands.
    private static let stall = MediaTime.milliseconds(1500)
    /// A rate of less of the target is too little to be taken for what the link carries.
    private static let meaningfulShare = 0.1
    /// A trial lasts this long: the encoder needs a second to use more, and the rate is that of the last second.
    private static let trial = MediaTime.milliseconds(2500)
    /// A trial in which so much of the target went through has shown that it does.
    private static let testedShare = 0.85
    /// A screen that stands still uses less: it needs no more, and need not wait for it either.
    private static let unusedShare = 0.4
    private static let firstPause = MediaTime.seconds(4)
    private static let longestPause = MediaTime.seconds(32)
    private static let firstStep = 0.08
    private static let largestStep = 0.5

    let limits: Limits
    /// Bits a second of video that this link is given.
    private(set) var target: Int
    /// Why it is what it is, for people.
    private(set) var reason = "as configured"

    private var connection = 0
    private var shedPackets = 0
    private var samples: [(time: MediaTime, bytes: UInt64)] = []
    private var lastMovement = MediaTime.zero
    /// Bits a second, audio among them, at which the link was full when it last was.
    private var capacity: Double?
    /// While a queue empties: how long it was at the last step, and when the next may come.
    private var emptying: (lag: MediaTime, until: MediaTime)?
    /// Before the present run of steps down; a connection that breaks takes it back.
    private var beforeFall: Int?
    private var nextTrial = MediaTime.zero
    private var pause = firstPause
    private var step = firstStep
    /// While more is tried than what is known to go through: that.
    private var beforeTrial: Int?
    /// How late packets were when the trial began; a little too much shows as more.
    private var lagBeforeTrial = MediaTime.zero

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
        if report.shedPackets > shedPackets { report.lag = max(report.lag, Self.sheddingLag) }
        shedPackets = report.shedPackets
        if report.connection != connection { begin(report) }
        let hasStood = report.time - lastMovement >= Self.stall
        let rate = measure(report)
        if report.time - lastMovement >= Self.stillness {
            // Less would not move it either.
            return
        }
        // What waited goes out first; and from here on there is a rate again.
        if hasStood { settle(report) }
        if report.lag >= Self.congestedLag {
            congested(report, rate)
        } else if let beforeTrial, report.lag >= Self.failedTrialLag {
            failed(report, rate, beforeTrial)
        } else if report.lag < Self.calmLag {
            calm(report, rate)
        }
    }

    /// A new connection begins with a keyframe that may be old, and with what has waited for it.
    private mutating func begin(_ report: LinkReport) {
        connection = report.connection
        // What led to the last one's end says little of what the path carries.
        if let beforeFall { set(beforeFall, "a new connection") }
        beforeFall = nil
        beforeTrial = nil
        nextTrial = report.time + pause
        settle(report)
    }

    private mutating func settle(_ report: LinkReport) {
        samples.removeAll(keepingCapacity: true)
        samples.append((report.time, report.deliveredBytes))
        lastMovement = report.time
        emptying = (max(report.lag, Self.sheddingLag), report.time + Self.settling)
    }

    /// Bits a second over the last second; nil as long as half a second has not been seen.
    private mutating func measure(_ report: LinkReport) -> Double? {
        // A socket in which nothing is outstanding has nothing to move.
        if report.deliveredBytes != samples.last?.bytes || report.outstandingBytes == 0 { lastMovement = report.time }
        samples.append((report.time, report.deliveredBytes))
        while samples.count > 2, report.time - samples[1].time >= .seconds(1) { samples.removeFirst() }
        guard let first = samples.first, report.time - first.time >= .milliseconds(500) else { return nil }
        return Double(report.deliveredBytes - first.bytes) * 8 / (report.time - first.time).secondsAsDouble
    }

    private mutating func congested(_ report: LinkReport, _ rate: Double?) {
        if let emptying {
            guard report.time >= emptying.until else { return }
            // Shrinking: nothing more is needed.
            if report.lag.nanoseconds < emptying.lag.nanoseconds / 10 * 9 {
                self.emptying = (report.lag, report.time + Self.settling)
                return
            }
        }
        pause = beforeTrial == nil ? Self.firstPause : min(pause * 2, Self.longestPause)
        beforeFall = beforeFall ?? beforeTrial ?? target
        beforeTrial = nil
        step = Self.firstStep
        var wanted = Double(target) * Self.emptyingShare
        let carried = min(rate ?? 0, Double(target + limits.audio))
        if carried > Double(target) * Self.meaningfulShare {
            capacity = carried
            wanted = min(wanted, carried * Self.emptyingShare - Double(limits.audio))
        }
        set(Int(wanted), "packets are \(report.lag.milliseconds) ms late")
        emptying = (report.lag, report.time + Self.settling)
        nextTrial = report.time + pause
    }

    /// A trial made packets late, but not yet so late that the queue has to be emptied first.
    private mutating func failed(_ report: LinkReport, _ rate: Double?, _ beforeTrial: Int) {
        self.beforeTrial = nil
        pause = min(pause * 2, Self.longestPause)
        step = Self.firstStep
        nextTrial = report.time + pause
        var wanted = beforeTrial
        // Several trials may have gone a little too far before one went far enough to be noticed.
        if let rate, use(rate) >= Self.unusedShare {
            capacity = rate
            wanted = min(wanted, Int(rate * Self.failedShare) - limits.audio)
        }
        emptying = (report.lag, report.time + Self.settling * 2)
        set(wanted, "more made packets \(report.lag.milliseconds) ms late")
    }

    /// The share of what the encoder was given that went through.
    private func use(_ rate: Double?) -> Double { (rate ?? 0) / Double(target + limits.audio) }

    private mutating func calm(_ report: LinkReport, _ rate: Double?) {
        if emptying != nil {
            emptying = nil
            nextTrial = report.time + pause
            if let capacity, beforeFall != nil {
                set(max(target, Int(capacity * Self.settledShare) - limits.audio), "the queue is empty again")
            }
            beforeFall = nil
            return
        }
        guard target < limits.ceiling, report.time >= nextTrial else { return }
        if beforeTrial != nil {
            let use = use(rate)
            // The encoder has not got there yet, or the link may not.
            guard use >= Self.testedShare || use < Self.unusedShare else { return }
            guard report.lag <= lagBeforeTrial + Self.trialLag else { return }
            succeeded(isTested: use >= Self.testedShare)
        }
        beforeTrial = target
        lagBeforeTrial = report.lag
        set(target + Int(Double(target) * step), "packets are on time")
        nextTrial = report.time + Self.trial
        if target == limits.ceiling { (beforeTrial, capacity) = (nil, nil) }
    }

    /// Small steps up to what is known to go through; beyond it each may be twice the last.
    private mutating func succeeded(isTested: Bool) {
        let reached = Double(target + limits.audio)
        guard isTested, reached > capacity ?? 0 else {
            step = Self.firstStep
            return
        }
        capacity = reached
        step = min(step * 2, Self.largestStep)
        // Several in a row are a better link, which is worth asking again soon.
        if step > Self.firstStep * 3 { pause = Self.firstPause }
    }

    private mutating func set(_ bitrate: Int, _ reason: String) {
        let bounded = min(max(bitrate, limits.bottom), limits.ceiling)
        if bounded != target { self.reason = reason }
        target = bounded
    }
}
