package import MediaCore

/// The client's tracks, each with its own stream of presentation times.
package enum TimelineTrack: Int, CaseIterable, Sendable {
    case video
    case audioApp
    case audioMicrophone
}

/// An irregularity of one sample.
package enum TimelineEvent: Equatable, Sendable {
    /// The first sample of the broadcast; its time is zero.
    case started
    /// A new relation between PTS and broadcast time. The sample is placed this much later than by the old relation.
    case rebased(by: MediaTime)
    /// The track follows a jump of another track, or returns from one.
    case followed
    /// Refused: a video frame at or before the previous one.
    case notRising
    /// Refused: the whole sample is before the first sample of the broadcast.
    case beforeStart
}

/// The place of a sample on the broadcast's timeline.
package struct Placement: Equatable, Sendable {
    /// Broadcast time of the sample's start. It can be negative for an audio block that extends across zero.
    package var time: MediaTime
    package var event: TimelineEvent?
    /// Whether to use the sample.
    package var isAccepted: Bool

    package init(time: MediaTime, event: TimelineEvent?, isAccepted: Bool) {
        self.time = time
        self.event = event
        self.isAccepted = isAccepted
    }
}
