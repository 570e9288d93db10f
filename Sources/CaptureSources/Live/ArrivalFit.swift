internal import MediaCore

/// Estimates when the first sample of a live pipe was captured, from all samples so far. Pure.
///
/// Each sample gives an estimate: its arrival, less its time since the first sample. Delays only add to that, so the
/// least value is the best. If the value rises for good, that is no delay: the source has lost samples, or is slower
/// than it claims. A lower value corrects a start that was delayed, in steps that no player notices.
struct ArrivalFit {
    /// The least value of each window counts.
    static let window = MediaTime.milliseconds(250)
    /// A delay lasts for fewer windows than this.
    static let kept = 4
    /// A source whose value rises by this much in each window is slower than it claims.
    private static let slowRise = MediaTime.milliseconds(5)
    /// The largest acceptable time difference between two tracks.
    static let tolerance = MediaTime.milliseconds(40)
    /// This many falls by more than the tolerance, within the first windows, are not chance.
    private static let (mostFalls, watchedWindows) = (3, 16)

    private(set) var origin: MediaTime
    private let slew: MediaTime
    private var least: [MediaTime] = []
    private var current: (end: MediaTime, least: MediaTime)?
    private var isSlow = false
    private var (windows, falls) = (0, 0)
    /// The largest fall from one window to the next.
    private(set) var largestFall = MediaTime.zero

    /// - Parameters:
    ///   - origin: the estimate at the start.
    ///   - slew: how far one sample may move the origin back. It is less than the distance of samples, so that times
    ///     rise.
    init(origin: MediaTime, slew: MediaTime) {
        (self.origin, self.slew) = (origin, slew)
        least.reserveCapacity(Self.kept + 1)
    }

    /// Whether samples come in bursts of changing lengths, so that arrivals do not give their times.
    var isUnsteady: Bool { falls >= Self.mostFalls }

    /// Returns the origin for a sample.
    ///
    /// - Parameters:
    ///   - time: the time of the sample, since the first one.
    ///   - captured: the latest time at which it can have been captured, by its arrival.
    mutating func note(_ time: MediaTime, captured: MediaTime) -> MediaTime {
        let value = captured - time
        if let window = current, captured < window.end {
            current = (window.end, min(window.least, value))
        } else {
            if let window = current { close(window.least) }
            current = (captured + Self.window, value)
        }
        let recent = min(least.min() ?? value, current?.least ?? value)
        let isKnown = isSlow || least.count >= Self.kept
        let target = isSlow ? value : isKnown ? recent : min(origin, recent)
        origin = max(target, origin - slew)
        return origin
    }

    private mutating func close(_ value: MediaTime) {
        if let last = least.last {
            windows += 1
            if last - value > Self.tolerance, windows <= Self.watchedWindows {
                falls += 1
                largestFall = max(largestFall, last - value)
            }
            if isSlow, value - last < Self.slowRise {
                isSlow = false
                least.removeAll(keepingCapacity: true)
            }
        }
        least.append(value)
        if least.count > Self.kept { least.removeFirst() }
        if !isSlow, least.count == Self.kept {
            isSlow = zip(least, least.dropFirst()).allSatisfy { $1 - $0 >= Self.slowRise }
        }
    }
}
