internal import MediaCore

/// How long the mixer waits for its sources. The wait grows at once for a late block, and shrinks slowly.
///
/// A longer wait costs delay, and a wait that is too short costs samples. The wait therefore grows even for a block
/// that came only just in time. It moves nothing on the timeline; it only determines when an output block is made.
struct MixingLatency: Sendable {
    /// The margin that is added to the need of a block. For bursts it is an eighth of their length if that is more,
    /// because a source that delivers in bursts is also less punctual.
    private static let margin = MediaTime.milliseconds(15)
    private static let marginShare: Int64 = 8
    /// The tolerance below the margin before the wait grows.
    private static let slack = MediaTime.milliseconds(10)
    private static let shrinkInterval = MediaTime.seconds(10)
    /// The wait at the start: a burst of half a second, and its margin.
    private static let startingWait = MediaTime.milliseconds(600)
    /// The limit of the initial wait, because an expected source may never come.
    private static let longestStart = MediaTime.seconds(2)

    /// The longest wait that ends early. Longer waits never do, so that sound which comes in bursts goes out evenly.
    private static let longestToEndEarly = MediaTime.milliseconds(150)

    private let minimum: MediaTime
    private let maximum: MediaTime
    private(set) var current: MediaTime
    private(set) var isStarting: Bool
    private var intervalEnd: MediaTime?
    /// The needs of the blocks in this interval. A negative need is an early block.
    private var needs = (least: MediaTime.seconds(10), largest: MediaTime.seconds(-10))
    private var longestBlock = MediaTime.zero

    /// - Parameter isStarting: whether sources are expected whose lateness is unknown; see `endStart`.
    init(minimum: MediaTime, maximum: MediaTime, isStarting: Bool = false) {
        self.minimum = minimum
        self.maximum = maximum
        self.isStarting = isStarting
        current = isStarting ? max(minimum, min(maximum, Self.startingWait)) : minimum
    }

    /// Whether the wait ends as soon as a block has all samples.
    var endsEarly: Bool { current <= Self.longestToEndEarly }

    /// Records a block that arrived `need` after the time of its first sample.
    mutating func observe(need: MediaTime, duration: MediaTime) {
        let need = min(max(need, .seconds(-1)), maximum)
        needs = (min(needs.least, need), max(needs.largest, need))
        longestBlock = max(longestBlock, min(duration, maximum))
        if wanted - Self.slack > current { current = wanted }
    }

    /// The wait that the blocks of this interval need.
    private var wanted: MediaTime {
        let spread = needs.largest > needs.least ? needs.largest - needs.least : .zero
        let burst = max(longestBlock, needs.largest, spread)
        let margin = max(Self.margin, MediaTime(nanoseconds: burst.nanoseconds / Self.marginShare))
        return max(minimum, min(maximum, needs.largest + margin))
    }

    /// Ends the initial wait, because all expected sources have arrived.
    mutating func endStart() {
        guard isStarting else { return }
        isStarting = false
        current = wanted
    }

    /// Reduces the wait, each ten seconds, by a quarter of the unused part.
    mutating func advance(to now: MediaTime) {
        if now >= Self.longestStart { endStart() }
        guard let end = intervalEnd else {
            intervalEnd = now + Self.shrinkInterval
            return
        }
        guard now >= end else { return }
        if current > wanted {
            let surplus = current - wanted
            current -= surplus < .milliseconds(1) ? surplus : MediaTime(nanoseconds: surplus.nanoseconds / 4)
        }
        needs = (.seconds(10), .seconds(-10))
        longestBlock = .zero
        intervalEnd = now + Self.shrinkInterval
    }
}
