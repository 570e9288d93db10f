internal import MediaCore

/// Decides when the times of live audio become right. Pure; one for each track.
///
/// After ffmpeg has opened a PulseAudio source, it stamps samples up to 0.6 s too early, and lets their times run twice
/// as fast until they fit. Samples that are sent with such times stay out of sync.
struct SettlingAudio {
    /// Times are right after they have advanced as the samples do for this long.
    static let calm = MediaTime.milliseconds(500)
    /// A smaller difference is jitter.
    static let jitter = MediaTime.milliseconds(10)
    /// After this long, times that still do not fit are taken as they are.
    static let patience = MediaTime.seconds(5)

    private var isSettled = false
    /// Since when the samples have fitted, and for how long.
    private var fitting: (time: MediaTime, duration: MediaTime)?
    private var waited = MediaTime.zero

    /// Whether a sample is to be sent.
    mutating func takes(_ sample: TimedSample) -> Bool {
        if isSettled { return true }
        let since = fitting ?? (sample.time, .zero)
        let difference = sample.time - (since.time + since.duration)
        fitting = difference.magnitude > Self.jitter
            ? (sample.time, sample.duration) : (since.time, since.duration + sample.duration)
        waited += sample.duration
        isSettled = waited >= Self.patience || (fitting?.duration ?? .zero) >= Self.calm
        return isSettled
    }
}
