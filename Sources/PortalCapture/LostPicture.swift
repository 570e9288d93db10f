package import MediaCore

/// Decides when to ask a sender for its picture again. Pure.
///
/// Senders do not send a picture twice. Until something changes, viewers would miss a picture that was lost.
///
/// - A sender that starts, or changes the format, sends its picture once. If none arrives, it was lost on the way, or
///   the sender has none yet.
/// - PipeWire has one place for buffers on the way to a late receiver. A buffer that only moves the pointer can replace
///   a picture there.
package struct LostPicture: Equatable, Sendable {
    private var lossDue: MediaTime?
    private var startDue: MediaTime?
    private var isStreaming = false
    private var starts: UInt32 = 0
    private var earliest = MediaTime.zero
    /// How long to wait for the first picture after a start.
    private var startPatience = interval

    /// Changes mostly come together. After this wait, the next picture has usually replaced the lost one.
    package static let patience = MediaTime.milliseconds(200)
    /// The time between two requests.
    package static let interval = MediaTime.seconds(1)
    /// The longest wait between two requests for the first picture. A minimized window has no picture.
    package static let longestInterval = MediaTime.seconds(60)

    package init() {}

    /// When to ask again; nil while no picture is missing, and while the sender does not stream.
    package var due: MediaTime? {
        guard isStreaming else { return nil }
        return lossDue.map { min($0, startDue ?? $0) } ?? startDue
    }

    /// Notes the state of the stream. A sender that starts, perhaps on request, sends its whole picture, which makes up
    /// for all losses.
    ///
    /// - Parameters:
    ///   - isStreaming: whether pictures can come now.
    ///   - starts: how often the sender has begun to stream, or changed the format. It may have paused since the last
    ///     call.
    package mutating func note(isStreaming: Bool, starts: UInt32, at now: MediaTime) {
        if isStreaming, !self.isStreaming || starts != self.starts { (startDue, lossDue) = (now + startPatience, nil) }
        (self.isStreaming, self.starts) = (isStreaming, starts)
    }

    /// Notes that a picture may have been lost.
    package mutating func noteLoss(at now: MediaTime) {
        if lossDue == nil { lossDue = max(now + Self.patience, earliest) }
    }

    /// Notes that the newest picture has arrived, or that none is wanted.
    package mutating func notePicture() { (lossDue, startDue, startPatience) = (nil, nil, Self.interval) }

    /// Notes a request. Only a request for the first picture is repeated, each time after twice as long: the sender may
    /// have no picture.
    package mutating func noteAsked(at now: MediaTime) {
        (lossDue, earliest) = (nil, now + Self.interval)
        guard let due = startDue, due <= now else { return }
        startPatience = min(startPatience + startPatience, Self.longestInterval)
        startDue = now + startPatience
    }
}
