package import MediaCore

/// Decides when to ask a sender for its picture again. Pure.
///
/// Senders do not send a picture twice: until something changes, viewers would do without one that was lost.
///
/// - A sender that starts sends its picture once. If nothing comes, it may have been lost on the way; the sender may
///   also have none yet.
/// - PipeWire has one place for what is on the way to a late receiver. A buffer that only moves the pointer can replace
///   a picture there.
package struct LostPicture: Equatable, Sendable {
    private var lossDue: MediaTime?
    private var startDue: MediaTime?
    private var isStreaming = false
    private var starts: UInt32 = 0
    private var earliest = MediaTime.zero
    /// How long the first picture after a start is waited for.
    private var startPatience = interval

    /// Changes mostly come together: the next picture makes up for it.
    package static let patience = MediaTime.milliseconds(200)
    /// From one question to the next.
    package static let interval = MediaTime.seconds(1)
    /// The longest wait between two questions for the first picture. A window that is minimized has none.
    package static let longestInterval = MediaTime.seconds(60)

    package init() {}

    /// When to ask; nil while nothing is missing, and while the sender does not stream.
    package var due: MediaTime? {
        guard isStreaming else { return nil }
        return lossDue.map { min($0, startDue ?? $0) } ?? startDue
    }

    /// A sender that starts, perhaps because it was asked, sends its whole picture, which makes up for all losses.
    ///
    /// - Parameters:
    ///   - isStreaming: pictures can come now.
    ///   - starts: how often the sender has begun to stream. It may have paused since the last call.
    package mutating func note(isStreaming: Bool, starts: UInt32, at now: MediaTime) {
        if isStreaming, !self.isStreaming || starts != self.starts { (startDue, lossDue) = (now + startPatience, nil) }
        (self.isStreaming, self.starts) = (isStreaming, starts)
    }

    /// A picture may have been lost.
    package mutating func noteLoss(at now: MediaTime) {
        if lossDue == nil { lossDue = max(now + Self.patience, earliest) }
    }

    /// The newest picture is here, or none is wanted.
    package mutating func notePicture() { (lossDue, startDue, startPatience) = (nil, nil, Self.interval) }

    /// Only a question for the first picture is repeated, each time after twice as long: senders may have none.
    package mutating func noteAsked(at now: MediaTime) {
        (lossDue, earliest) = (nil, now + Self.interval)
        guard let due = startDue, due <= now else { return }
        startPatience = min(startPatience + startPatience, Self.longestInterval)
        startDue = now + startPatience
    }
}
