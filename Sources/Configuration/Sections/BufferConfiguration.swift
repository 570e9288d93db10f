package import MediaCore

/// The limits of the packet log.
package struct BufferConfiguration: Equatable, Sendable {
    package var duration = MediaTime.milliseconds(3000)
    /// Delay of the broadcast. The log holds this time in addition to `duration`.
    package var delay = MediaTime.zero
    package var maxBytes = 2 * 1024 * 1024
    /// A destination that is this far behind skips frames that no other frame references.
    package var dropDisposable = MediaTime.milliseconds(700)
    /// A destination that is this far behind skips to a new keyframe.
    package var dropToKeyframe = MediaTime.milliseconds(900)

    /// The minimum of `maxBytes`.
    package static let leastBytes = 128 << 10

    /// The order of audio and video packets.
    package var interleave = InterleaveMode.strict

    package init() {}
}

/// `strict` sends packets by timestamp; `low_latency` sends each packet as soon as it is encoded.
package enum InterleaveMode: String, CaseIterable, Sendable {
    case strict
    case lowLatency = "low_latency"
}
