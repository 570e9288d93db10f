package import MediaCore

/// Decides when to ask a sender for its picture again. Pure.
///
/// Senders do not send a picture twice: until something changes, viewers would do without one that was lost.
///
/// - A sender that starts sends its picture once. PipeWire drops it while the receiver's side is not running yet.
/// - PipeWire has one place for what is on the way to a late receiver. A buffer that only moves the pointer can replace
///   a picture there.
package struct LostPicture: Equatable, Sendable {
    private var lossDue: MediaTime?
    private var startDue: MediaTime?
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

    /// When to ask; nil while nothing is missing.
    package var due: MediaTime? { lossDue.map { min($0, startDue ?? $0) } ?? startDue }

    /// The sender has started, perhaps because it was asked, and is to send its picture.
    package mutating func noteStart(at now: MediaTime) { startDue = now + startPatience }

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
        noteStart(at: now)
    }
}
