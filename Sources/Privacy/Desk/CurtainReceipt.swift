package import ControlProtocol
package import MediaCore

/// What had left when the curtain was raised: as the answer to the command has it.
package typealias CurtainReceipt = CurtainRaisedReport

extension CurtainReceipt {
    /// - Parameters:
    ///   - destinations: with the presentation time of the last packet that each was sent.
    ///   - kept: packets up to this time are not taken back; nil where everything was.
    package init(
        videoPackets: Int = 0, audioPackets: Int = 0, _ destinations: [(name: String, lastPTS: MediaTime?)] = [],
        kept: MediaTime? = nil
    ) {
        self.init()
        (self.videoPackets, self.audioPackets) = (videoPackets, audioPackets)
        lastPTS = destinations.map { name, time in DestinationTime(name, time.map { Int($0.milliseconds) }) }
        // What every destination has been sent already cannot be kept from it.
        let goesOut = destinations.contains { destination in
            kept.map { kept in destination.lastPTS.map { $0 < kept } ?? true } ?? false
        }
        if let kept, kept >= .zero, goesOut { keptUntil = Int(kept.milliseconds) }
    }
}
