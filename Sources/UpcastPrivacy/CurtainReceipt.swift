internal import ControlProtocol

/// What the daemon answers when the curtain is up: what could no longer be kept from viewers.
public struct CurtainReceipt: Equatable, Sendable {
    /// A destination of the running broadcast.
    public struct Destination: Equatable, Sendable {
        /// The operator's name for it.
        public let name: String
        /// The presentation time, from the broadcast's beginning, of the last packet that was sent, wholly or partly;
        /// nil if none was.
        public let lastPTS: Duration?
    }

    /// Empty if nothing is captured.
    public let destinations: [Destination]
    /// Packets of video that waited to be sent and were taken back.
    public let videoPacketsTakenBack: Int
    /// Packets of sound that waited to be sent and were taken back.
    public let audioPacketsTakenBack: Int

    /// The presentation time up to which older packets are still sent; nil if none are. The daemon may be configured to
    /// take back only newer packets (`privacy.take_back_newer_than_ms`), or none.
    public let keptUntil: Duration?
    /// Whether the hold survives a restart of the daemon: false if its disk fails, nil if it has no state file
    /// (`privacy.state_file`). In both cases, raise the curtain again after a restart.
    public let isPersisted: Bool?

    /// Nil if the answer does not say that the curtain is up.
    init?(_ json: JSONValue) {
        var findings = JSONFindings()
        let answer = CurtainUpAnswer(json: json, &findings)
        guard findings.isComplete, answer.isUp else { return nil }
        destinations = answer.report.lastPTS.map {
            Destination(name: $0.destination, lastPTS: $0.milliseconds.map { .milliseconds($0) })
        }
        (videoPacketsTakenBack, audioPacketsTakenBack) = (answer.report.videoPackets, answer.report.audioPackets)
        keptUntil = answer.report.keptUntil.map { .milliseconds($0) }
        isPersisted = answer.persisted
    }
}
