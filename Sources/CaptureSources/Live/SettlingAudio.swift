internal import MediaCore

/// Decides from when on the times of live audio are right. Pure; one for each track.
///
/// After it has opened a source of PulseAudio, ffmpeg stamps its samples up to 0.6 s too early, and lets the times run
/// twice as fast until they fit. What is sent with such times stays out of sync.
struct SettlingAudio {
    /// Times that advance as the samples do for so long are right.
    static let calm = MediaTime.milliseconds(500)
    /// A smaller difference is jitter.
    static let jitter = MediaTime.milliseconds(10)
    /// Times that never fit are the best there is.
    static let patience = MediaTime.seconds(5)

    private var isSettled = false
    /// Where the samples have fitted since, and for how long.
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
