internal import LinuxSystem
internal import MediaCore

/// The bits per second that the video encoder delivers, measured once a second. Any thread.
final class VideoRate: Sendable {
    private struct State {
        var gauge = RateGauge()
        var bitsPerSecond = 0
    }
    private let state = Monitor(State())

    var bitsPerSecond: Int { state.withLock { $0.bitsPerSecond } }

    /// - Parameter bytes: bytes encoded since the broadcast began.
    func note(_ bytes: UInt64, at now: MediaTime) {
        state.withLock { $0.bitsPerSecond = Int($0.gauge.note(bytes, at: now) * 8) }
    }
}
