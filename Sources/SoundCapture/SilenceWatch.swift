/// Finds a stream that its server may have cut off. Pure; one for each stream.
///
/// When a sink of PipeWire 0.3.65 is suspended while it plays, a stream of its monitor gets only zeros from then on. A
/// new stream gets the sound. The server reports that the stream has changed, as it does for its volume.
package struct SilenceWatch: Sendable {
    /// How long only zeros come after a change, in bytes.
    private let patience: Int64
    /// What comes so soon after the change may be from before it, in bytes.
    private let delay: Int64
    /// Where the stream stood at the first change without sound after it, and at the last one.
    private var changed: (first: Int64, last: Int64)?
    /// Where the samples end that came last.
    private var end: Int64 = 0

    package init(bytesPerSecond: Int) {
        patience = Int64(bytesPerSecond)
        delay = patience * 3 / 10
    }

    /// Whether samples have to be looked at.
    package var isWatching: Bool { changed != nil }
    package var isCutOff: Bool { changed.map { end - $0.first >= patience } ?? false }

    /// The server reports that the stream has changed. It does so for each new one: what it reports at once is ignored,
    /// so that streams of a silent sink do not follow each other.
    package mutating func noteChange(at position: Int64) {
        if position >= delay { changed = (changed?.first ?? position, position) }
    }

    /// Bytes have come.
    ///
    /// - Parameter hasSound: whether a sample is not zero; it does not matter unless `isWatching`.
    package mutating func note(_ count: Int, at position: Int64, hasSound: Bool) {
        end = position + Int64(count)
        guard hasSound, let (first, last) = changed else { return }
        if position - last >= delay {
            changed = nil
        } else if position - first >= delay {
            changed = (last, last)
        }
    }
}
