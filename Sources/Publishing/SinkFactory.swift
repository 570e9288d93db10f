internal import Buffering
internal import LinuxSystem
internal import MediaCore

/// Makes a destination's sinks, one after the other, and keeps what is learnt from one to the next. One thread.
protocol SinkFactory: AnyObject {
    /// Bytes that must be free in front of a payload in the buffer given to `write`.
    var headroom: Int { get }
    /// The same behind a payload.
    var tailroom: Int { get }

    /// The sink of the next attempt, or the one that takes the place of a sink that wanted to be replaced.
    func makeSink() throws(PublishError) -> any PublishingSink
    /// The attempt has failed, and the next one begins afresh.
    func attemptFailed(_ error: PublishError)
}

/// What a factory and its sinks are given.
struct SinkContext {
    let format: BroadcastFormat
    let clock: any TimeSource
    /// Bounds whatever a sink waits for.
    let control: PublishControl
    /// Reads what lies on disks that may hang; nil in tests without one.
    let files: FileReading?
    /// Tells an operator something in one sentence without secrets.
    let onNotice: (String) -> Void
    /// Tells what must be heard whatever else is left out.
    let onWarning: (String) -> Void
}

/// One kind of destination. A new kind is a type that conforms, a sink, a factory, and a case of
/// `DestinationSettings.Kind`.
protocol SinkSettings: Sendable {
    /// What status and metrics call it, such as "rtmps".
    var kindName: String { get }
    /// The URL without secrets, or the path.
    var location: String { get }
    /// When packets are left out, where nobody says otherwise.
    var cursorPolicy: CursorPolicy { get }
    /// What a sink may wait for at most; nil for what may hang without anybody's fault, such as a disk.
    var longestWaits: SinkWaits? { get }

    func makeFactory(_ context: SinkContext) -> any SinkFactory
}

/// The longest waits of a sink that is well, beyond which the thread counts as stuck.
struct SinkWaits {
    /// For `open`.
    var opening: MediaTime
    /// For one packet, and a look at what the other side says.
    var turn: MediaTime
}
