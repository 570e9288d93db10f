internal import Buffering
internal import LinuxSystem
internal import MediaCore

/// Makes a destination's sinks, and carries over what they learn. One thread.
protocol SinkFactory: AnyObject {
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
    var facts: SinkFacts { get }

    func makeFactory(_ context: SinkContext) -> any SinkFactory
}

/// The facts that other code needs about a kind of sink with these settings. None has a default, so the compiler asks
/// for each.
struct SinkFacts {
    /// The kind's name, as in the URL's `DestinationFacts`.
    let kind: String
    /// The URL without secrets, or the path.
    let location: String
    /// The default policy for shedding packets.
    let cursorPolicy: CursorPolicy
    /// The longest waits of a sink; nil if it may hang without an error of the daemon, as a disk may.
    let longestWaits: SinkWaits?
    /// Free bytes that `write` needs before a payload, and after it.
    let headroom: Int
    let tailroom: Int
    /// The most memory that a sink needs beside the packet: its own, its library's, and the kernel's for a socket.
    let bufferedBytes: Int
}

/// The longest waits of a healthy sink. After them, the thread counts as stuck.
struct SinkWaits {
    /// For `open`.
    var opening: MediaTime
    /// For one packet, and for reading the other side's messages.
    var turn: MediaTime
}
