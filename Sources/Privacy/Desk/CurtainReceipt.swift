package import ControlProtocol
package import MediaCore

/// What had gone out when the curtain was raised, in the form of the command's answer.
package typealias CurtainReceipt = CurtainRaisedReport

extension CurtainReceipt {
    /// - Parameters:
    ///   - destinations: each with the presentation time of the last packet that it was sent.
    ///   - kept: packets up to this time are not taken back; nil if all were taken back.
    package init(
        videoPackets: Int = 0, audioPackets: Int = 0, _ destinations: [(name: String, lastPTS: MediaTime?)] = [],
        kept: MediaTime? = nil
    ) {
        self.init()
        (self.videoPackets, self.audioPackets) = (videoPackets, audioPackets)
        lastPTS = destinations.map { name, time in DestinationTime(name, time.map { Int($0.milliseconds) }) }
        // Reports kept packets only if a destination still gets some of them.
        let goesOut = destinations.contains { destination in
            kept.map { kept in destination.lastPTS.map { $0 < kept } ?? true } ?? false
        }
        if let kept, kept >= .zero, goesOut { keptUntil = Int(kept.milliseconds) }
    }
}
