internal import MediaCore
internal import Publishing

/// Finds the bitrate that one destination's link carries: pure, reports in, targets out.
///
/// Falls when packets come late, to below what the link was seen to carry, so that the queue empties; settles at nine
/// tenths of that; rises again by trials that grow as long as they go well, and come more rarely where they do not. A link
/// on which nothing moves for seconds says nothing of what it carries: when it moves again, so does the bitrate.
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
    /// After a step down, the queue gets this long to show that it shrinks.
    private static let settling = MediaTime.seconds(1)
    /// What is used while a queue empties, and when it has, of what the link was seen to carry.
    private static let emptyingShare = 0.7
    private static let settledShare = 0.9
    /// A trial that reached so much of what was known has shown a better link, and not just luck with its first second.
    private static let betterShare = 1.2
    /// A link on which nothing leaves for as long stands still; slow ones move in bursts, a second apart.
    private static let stillness = MediaTime.milliseconds(1500)
    /// What was asked for before a link stood still is tried at once, but no more often than this.
    private static let restorePeriod = MediaTime.seconds(30)
    /// A rate of less of the target is too little to be taken for what the link carries.
    private static let meaningfulShare = 0.1
    /// A trial lasts this long.
    private static let trial = MediaTime.milliseconds(1500)
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
    /// Bits a second, audio among them, at which the link was full when it last was.
    private var capacity: Double?
    /// While a queue empties: how long it was at the last step, and when the next may come.
    private var emptying: (lag: MediaTime, until: MediaTime)?
    private var nextTrial = MediaTime.zero
    private var pause = firstPause
    private var step = firstStep
    /// While more is tried than what is known to go through: that.
    private var beforeTrial: Int?
    /// The target before the present run of steps down; nil while all is calm.
    private var beforeFall: Int?
    private var lastMovement = MediaTime.zero
    private var hasStalled = false
    private var lastRestore: MediaTime?

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
        if report.connection != connection {
            connection = report.connection
            samples.removeAll(keepingCapacity: true)
            emptying = nil
            nextTrial = report.time + pause
            lastMovement = report.time
            moves(at: report.time)
        }
        let rate = measure(report)
        if report.lag >= Self.congestedLag {
            congested(report, rate)
        } else if let beforeTrial, report.lag >= Self.failedTrialLag {
            failed(report, rate, beforeTrial)
        } else if report.lag < Self.calmLag {
            calm(report, rate)
        }
    }

    /// Bits a second over the last second; nil as long as half a second has not been seen.
    private mutating func measure(_ report: LinkReport) -> Double? {
        if report.deliveredBytes != samples.last?.bytes { lastMovement = report.time }
        samples.append((report.time, report.deliveredBytes))
        while samples.count > 2, report.time - samples[1].time >= .seconds(1) { samples.removeFirst() }
        guard let first = samples.first, report.time - first.time >= .milliseconds(500) else { return nil }
        return Double(report.deliveredBytes - first.bytes) * 8 / (report.time - first.time).secondsAsDouble
    }

    /// Something leaves again, after a stall: what was asked for before it is tried at once.
    private mutating func moves(at now: MediaTime) {
        guard hasStalled else { return }
        hasStalled = false
        guard let beforeFall, lastRestore.map({ now - $0 >= Self.restorePeriod }) ?? true else { return }
        lastRestore = now
        emptying = (.seconds(1), now + Self.settling)
        set(beforeFall, "the link moves again")
    }

    private mutating func congested(_ report: LinkReport, _ rate: Double?) {
        if report.time - lastMovement >= Self.stillness {
            hasStalled = true
            return
        }
        moves(at: report.time)
        if let emptying {
            guard report.time >= emptying.until else { return }
            // Shrinking: nothing more is needed.
            if report.lag.nanoseconds < emptying.lag.nanoseconds / 10 * 9 {
                self.emptying = (report.lag, report.time + Self.settling)
                return
            }
        }
        pause = beforeTrial == nil ? Self.firstPause : min(pause * 2, Self.longestPause)
        beforeTrial = nil
        step = Self.firstStep
        beforeFall = beforeFall ?? target
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
        if let rate, isTested(rate) {
            capacity = rate
            wanted = min(wanted, Int(rate * Self.settledShare) - limits.audio)
        }
        set(wanted, "more made packets \(report.lag.milliseconds) ms late")
    }

    /// Whether the encoder used what it was given, so that the rate says something about the link.
    private func isTested(_ rate: Double) -> Bool { rate >= Double(target) * 0.6 }

    private mutating func calm(_ report: LinkReport, _ rate: Double?) {
        moves(at: report.time)
        beforeFall = nil
        if emptying != nil {
            emptying = nil
            nextTrial = report.time + pause
            if let capacity {
                set(max(target, Int(capacity * Self.settledShare) - limits.audio), "the queue is empty again")
            }
            return
        }
        guard target < limits.ceiling, report.time >= nextTrial else { return }
        if beforeTrial != nil {
            // A trial that the encoder did not use has shown nothing, but a screen that stands still needs no more.
            let isTested = isTested(rate ?? 0)
            step = isTested ? min(step * 2, Self.largestStep) : Self.firstStep
            // Clearly more than was ever seen to go through: the link has become better, and is worth asking again soon.
            let reached = Double(target + limits.audio)
            if isTested, reached > (capacity ?? 0) * Self.betterShare { (capacity, pause) = (reached, Self.firstPause) }
        }
        beforeTrial = target
        set(target + Int(Double(target) * step), "packets are on time")
        nextTrial = report.time + Self.trial
        if target == limits.ceiling { (beforeTrial, capacity) = (nil, nil) }
    }

    private mutating func set(_ bitrate: Int, _ reason: String) {
        let bounded = min(max(bitrate, limits.bottom), limits.ceiling)
        if bounded != target { self.reason = reason }
        target = bounded
    }
}
