internal import LinuxSystem
internal import MediaCore

/// The start of several pipes that may be live. Programs that grab a screen and its sound begin at different times, and
/// do not report these times.
///
/// All pipes are observed for a moment. If all of them are live, the times of samples follow from their arrival
/// (`ArrivalFit`); otherwise all begin together. Inputs are identified by name. Any thread may call any method.
package final class LiveStart: Sendable {
    private struct State {
        var missing: Set<String>
        var isLive = true
        var isCancelled = false
    }

    /// How long the pipes are observed, after each has its first sample.
    static let observation = MediaTime.milliseconds(500)

    private let state: Monitor<State>

    /// - Parameter pipes: the names of at least two pipes.
    package init(_ pipes: Set<String>) { state = Monitor(State(missing: pipes)) }

    /// Reports whether a pipe is live, and waits until that is known of all. Returns whether all are; nil after
    /// `cancel`.
    func agree(_ pipe: String, isLive: Bool) -> Bool? {
        state.signal { state in
            guard state.missing.remove(pipe) != nil else { return }
            if !isLive { state.isLive = false }
        }
        return state.wait { $0.isCancelled ? .some(nil) : $0.missing.isEmpty ? .some($0.isLive) : nil } ?? nil
    }

    /// Whether all pipes are live; false until that is known.
    package var areLive: Bool { state.withLock { $0.missing.isEmpty && $0.isLive } }

    /// Stops waiting for a pipe that has ended or will not come.
    package func withdraw(_ pipe: String) { state.signal { _ = $0.missing.remove(pipe) } }

    /// Wakes all waiting threads.
    package func cancel() { state.signal { $0.isCancelled = true } }
}

/// A pipe that may be live.
package struct LivePipe: Sendable {
    let start: LiveStart
    /// Returns when the first sample was captured; nil if the pipe is not live.
    let origin: @Sendable (MediaTime) -> MediaTime?
    /// Returns the latest time at which the end of the last read sample can have been captured.
    let captured: @Sendable () -> MediaTime?

    /// - Parameters:
    ///   - bytesPerSecond: the byte rate of the media.
    ///   - unit: the size in bytes of a picture, which has one time; 0 for PCM.
    package init(_ start: LiveStart, _ ahead: ReadAhead, bytesPerSecond: Double, unit: Int = 0) {
        // ffmpeg passes a picture on when it has the next one, GStreamer when it has converted it.
        let delay = MediaTime(seconds: Double(unit) / bytesPerSecond / 2)
        self.init(
            start,
            origin: { ahead.arrivals.origin(bytesPerSecond: bytesPerSecond, unit: unit, now: $0).map { $0 - delay } },
            captured: { ahead.lastTaken.map { $0 - delay } })
    }

    init(
        _ start: LiveStart, origin: @escaping @Sendable (MediaTime) -> MediaTime?,
        captured: @escaping @Sendable () -> MediaTime? = { nil }
    ) {
        (self.start, self.origin, self.captured) = (start, origin, captured)
    }
}
