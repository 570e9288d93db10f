internal import IngestProtocol

/// How a broadcast is doing, as the daemon reports it.
///
/// The states from `connecting` to `degraded` say how the broadcast is sent, and the newest of them counts.
/// Independently of these, the two states of the curtain say what viewers see.
public enum BroadcastState: Hashable, Sendable {
    /// The daemon connects to the destination. Attempts count from 1.
    case connecting(attempt: Int)
    /// Packets reach the destination.
    case live
    /// The network takes less than is encoded: packets leave this late. A lower frame rate does not help.
    case congested(late: Duration)
    /// The connection was lost. The next attempt begins after this time.
    case reconnecting(in: Duration)
    /// The client sends more frames than are encoded. This many a second are enough.
    case slowDown(framesPerSecond: Int)
    /// The daemon takes no more samples, and sends what is queued, which lasts this long. A goodbye follows.
    case draining(queued: Duration)
    /// One of several destinations is lost. This many are still reached.
    case degraded(reached: Int)
    /// Viewers see a curtain in place of what is sent.
    case curtainUp(CurtainCauses)
    /// Viewers see what is sent again. Send the picture once more if the screen stands still.
    case curtainDown
    /// A state that this version has no name for, with its numbers. The event's text says what it is.
    case other(state: Int, value: Int)

    /// Why the curtain is up. Bits without a name come from a newer daemon.
    public struct CurtainCauses: OptionSet, Hashable, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The client itself is paused.
        public static let client = CurtainCauses(.client)
        /// A captured app holds it up.
        public static let app = CurtainCauses(.app)
        /// An operator holds it up.
        public static let `operator` = CurtainCauses(.operator)
        /// The daemon holds it up, and waits for nothing that the client could send.
        public static let daemon = CurtainCauses(.daemon)
        /// No picture has come that may be shown: send a whole one.
        public static let awaitsPicture = CurtainCauses(.awaitsPicture)

        init(_ causes: IngestProtocol.CurtainCauses) { rawValue = causes.rawValue }
    }

    init(_ message: StateMessage) {
        let value = Int(message.value)
        self =
            switch message.state {
            case .connecting: .connecting(attempt: value)
            case .live: .live
            case .congested: .congested(late: .milliseconds(value))
            case .reconnecting: .reconnecting(in: .milliseconds(value))
            case .slowDown: .slowDown(framesPerSecond: value)
            case .draining: .draining(queued: .milliseconds(value))
            case .degraded: .degraded(reached: value)
            case .curtainUp: .curtainUp(CurtainCauses(rawValue: message.value))
            case .curtainDown: .curtainDown
            case nil: .other(state: Int(message.stateRaw), value: value)
            }
    }
}
