package import MediaCore

/// The bounds of the log of encoded packets that all destinations read.
package struct BufferConfiguration: Equatable, Sendable {
    package var duration = MediaTime.milliseconds(3000)
    /// How much later the broadcast is sent than it happens; the log holds it beside `duration`.
    package var delay = MediaTime.zero
    package var maxBytes = 2 * 1024 * 1024
    /// A destination that is this far behind skips frames that no other frame needs.
    package var dropDisposable = MediaTime.milliseconds(700)
    /// A destination that is this far behind jumps to a new keyframe.
    package var dropToKeyframe = MediaTime.milliseconds(900)

    /// The smallest log that can be configured, in bytes.
    package static let leastBytes = 128 << 10

    /// Whether audio and video leave in the order of their times.
    package var interleave = InterleaveMode.strict

    package init() {}
}

/// `strict`: in the order of their times; `low_latency`: each as soon as it is encoded.
package enum InterleaveMode: String, CaseIterable, Sendable {
    case strict
    case lowLatency = "low_latency"
}
