package import MediaCore

/// Decides when to ask a sender for its picture again. Pure.
///
/// PipeWire has one place for what is on the way to a late receiver. A buffer that only moves the pointer can replace a
/// picture there, which no sender sends twice: viewers would keep the one before until the screen changes.
package struct LostPicture: Equatable, Sendable {
    /// Nil while nothing is missing.
    package private(set) var due: MediaTime?
    private var earliest = MediaTime.zero

    /// Changes mostly come together: the next picture makes up for it.
    package static let patience = MediaTime.milliseconds(200)
    /// From one question to the next.
    package static let interval = MediaTime.seconds(1)

    package init() {}

    /// A picture may have been lost.
    package mutating func noteLoss(at now: MediaTime) {
        if due == nil { due = max(now + Self.patience, earliest) }
    }

    /// The newest picture is here.
    package mutating func notePicture() { due = nil }

    /// A question without an answer is not repeated: senders may have no picture.
    package mutating func noteAsked(at now: MediaTime) { (due, earliest) = (nil, now + Self.interval) }
}
