internal import ControlProtocol

/// What the daemon answers when the curtain is up: what could not be kept from viewers any more.
public struct CurtainReceipt: Equatable, Sendable {
    /// A destination of the running broadcast.
    public struct Destination: Equatable, Sendable {
        /// As the operator has named it.
        public let name: String
        /// Presentation time, from the broadcast's beginning, of the last packet that had left, in whole or in part;
        /// nil where none had.
        public let lastPTS: Duration?
    }

    /// Empty where nothing is captured.
    public let destinations: [Destination]
    /// Packets of video that waited to be sent and were taken back.
    public let videoPacketsTakenBack: Int
    /// Packets of sound that waited to be sent and were taken back.
    public let audioPacketsTakenBack: Int

    /// Presentation time up to which packets from before still go out, where the daemon was told to take back only
    /// newer ones (`privacy.take_back_newer_than_ms`), or none; nil where none does.
    public let keptUntil: Duration?
    /// Whether the daemon's next process knows of it, too: false where its disk fails, nil where it has no state file
    /// (`privacy.state_file`). Then raise the curtain again when the daemon was restarted.
    public let isPersisted: Bool?

    /// Nil where the answer does not say that the curtain is up.
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
