package import MediaCore

/// The order of the two tracks' packets. Sound leaves its encoder about 85 ms later than the picture of the same time.
package enum Interleaving: Sendable {
    /// By decode time, as ffmpeg and OBS send them. A picture waits for the sound of its time. Each track waits for the
    /// other for at most a second.
    case strict
    /// A picture leaves as soon as it is encoded; the sound of the same time follows.
    case lowLatency
}

/// When packets are due, and when a late cursor sheds packets. Limits are in decode time.
package struct CursorPolicy: Equatable, Sendable {
    /// Beyond this lag, the cursor sheds frames that no other frame references.
    package var softLimit: MediaTime
    /// Beyond this lag, the cursor sheds video up to a newer keyframe. It requests one if there is none.
    package var hardLimit: MediaTime
    /// Beyond this lag, the cursor sheds audio as well, because old audio delays new packets.
    package var audioLimit: MediaTime
    /// The broadcast delay: the time from the write of a packet until it is sent. The log must hold it and `hardLimit`
    /// together.
    package var delay: MediaTime
    package var interleaving: Interleaving

    package init(
        softLimit: MediaTime = .milliseconds(700), hardLimit: MediaTime = .milliseconds(1500),
        audioLimit: MediaTime = .milliseconds(3000), delay: MediaTime = .zero,
        interleaving: Interleaving = .lowLatency
    ) {
        precondition(softLimit <= hardLimit && hardLimit <= audioLimit, "audio goes last, disposable frames first")
        precondition(delay >= .zero, "nothing goes out before it is written")
        self.softLimit = softLimit
        self.hardLimit = hardLimit
        self.audioLimit = audioLimit
        self.delay = delay
        self.interleaving = interleaving
    }

    /// Sheds nothing; only the log removes packets. For files.
    package static let keepEverything = CursorPolicy(
        softLimit: MediaTime(nanoseconds: .max), hardLimit: MediaTime(nanoseconds: .max),
        audioLimit: MediaTime(nanoseconds: .max))
}
