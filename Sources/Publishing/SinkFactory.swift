internal import Buffering
internal import ControlProtocol
internal import LinuxSystem
internal import MediaCore

/// Makes a destination's sinks, and carries over what they learn. One thread.
protocol SinkFactory: AnyObject {
    /// Free bytes that `write` needs before a payload.
    var headroom: Int { get }
    /// Free bytes that `write` needs after a payload.
    var tailroom: Int { get }

    /// Makes the sink of the next attempt, or the replacement of a sink that wants one.
    func makeSink() throws(PublishError) -> any PublishingSink
    /// Called after a failed attempt. Discards the state of that attempt, such as a redirect.
    func attemptFailed(_ error: PublishError)
}

/// The parameters of a factory and its sinks.
struct SinkContext {
    let format: BroadcastFormat
    let clock: any TimeSource
    /// Bounds all waits of a sink.
    let control: PublishControl
    /// Reads files from disks that may hang; nil only in tests.
    let files: FileReading?
    /// Reports one sentence without secrets to operators.
    let onNotice: (String) -> Void
    /// Like `onNotice`, for messages that must be shown even if notices are not.
    let onWarning: (String) -> Void
}

/// One kind of destination. A new kind needs a type that conforms, a sink, a factory, and a function of
/// `DestinationSettings.Kind` that takes the type.
protocol SinkSettings: Sendable {
    var kind: DestinationKind { get }
    /// The URL without secrets, or the path.
    var location: String { get }
    /// The default policy for shedding packets.
    var cursorPolicy: CursorPolicy { get }
    /// The longest waits of a sink; nil if it may hang without an error of the daemon, as a disk may.
    var longestWaits: SinkWaits? { get }

    func makeFactory(_ context: SinkContext) -> any SinkFactory
}

/// The longest waits of a healthy sink. After them, the thread counts as stuck.
struct SinkWaits {
    /// For `open`.
    var opening: MediaTime
    /// For one packet, and for reading what the other side says.
    var turn: MediaTime
}
