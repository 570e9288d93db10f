package import MediaCore

/// Finds a stream that its server may have cut off. Pure; one for each stream.
///
/// When a sink of PipeWire 0.3.65 is suspended while it plays, a stream of its monitor gets only zeros from then on. A
/// new stream gets the sound. The server reports that the stream has changed, as it does for its volume.
package struct SilenceWatch: Sendable {
    /// How long only zeros come after a change. Twice as long for each new stream without any sound: perhaps nothing
    /// plays.
    package static let (firstPatience, longestPatience) = (MediaTime.seconds(1), MediaTime.seconds(16))
    /// What comes so soon after the change may be from before it.
    static let delay = MediaTime.milliseconds(300)

    private let patience: MediaTime
    private var hasBegun = false
    /// The first change without sound after it, and the last one.
    private var changed: (first: MediaTime, last: MediaTime)?
    private var hasSound = false

    package init() { patience = Self.firstPatience }
    private init(patience: MediaTime) { self.patience = patience }

    /// The watch of the stream that takes the place of this one.
    package var next: Self {
        let longer = min(MediaTime(nanoseconds: 2 * patience.nanoseconds), Self.longestPatience)
        return Self(patience: hasSound ? Self.firstPatience : longer)
    }

    /// Whether samples have to be looked at.
    package var isWatching: Bool { changed != nil || !hasSound }
    /// When `isCutOff` is to be asked; nil for never.
    package var due: MediaTime? { changed.map { $0.first + patience } }

    /// The server reports that a stream has changed. It does so for each new one, before its first samples.
    package mutating func noteChange(now: MediaTime) { if hasBegun { changed = (changed?.first ?? now, now) } }

    /// Samples have come.
    package mutating func noteSamples() { hasBegun = true }

    /// A sample that is not zero has come.
    package mutating func noteSound(now: MediaTime) {
        hasSound = true
        guard let (first, last) = changed else { return }
        if now - last >= Self.delay {
            changed = nil
        } else if now - first >= Self.delay {
            changed = (last, last)
        }
    }

    package func isCutOff(now: MediaTime) -> Bool { due.map { $0 <= now } ?? false }
}
