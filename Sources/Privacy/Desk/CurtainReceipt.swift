package import ControlProtocol
package import MediaCore

/// What had left when the curtain was raised.
package struct CurtainReceipt: Equatable, Sendable {
    /// Packets that were thrown away before they went out.
    package var videoPackets = 0
    package var audioPackets = 0
    /// Presentation time of the last packet that went to each destination, in milliseconds; nil for none.
    package var lastPTS: [LastPTS] = []
    /// Packets from before, up to this time in milliseconds, are not taken back, and still go out; nil for none.
    package var keptUntil: Int?

    package struct LastPTS: Equatable, Sendable {
        package var destination: String
        package var milliseconds: Int?
    }

    /// - Parameters:
    ///   - destinations: with the presentation time of the last packet that each was sent.
    ///   - kept: packets up to this time are not taken back; nil where everything was.
    package init(
        videoPackets: Int = 0, audioPackets: Int = 0, _ destinations: [(name: String, lastPTS: MediaTime?)] = [],
        kept: MediaTime? = nil
    ) {
        (self.videoPackets, self.audioPackets) = (videoPackets, audioPackets)
        lastPTS = destinations.map { name, time in
            LastPTS(destination: name, milliseconds: time.map { Int($0.milliseconds) })
        }
        // What every destination has been sent already cannot be kept from it.
        let goesOut = destinations.contains { destination in
            kept.map { kept in destination.lastPTS.map { $0 < kept } ?? true } ?? false
        }
        if let kept, kept >= .zero, goesOut { keptUntil = Int(kept.milliseconds) }
    }

    package var members: [JSONValue.Member] {
        [
            .init("taken_back_video_packets", .integer(videoPackets)),
            .init("taken_back_audio_packets", .integer(audioPackets)),
            .init(
                "last_pts_ms",
                .object(lastPTS.map { .init($0.destination, $0.milliseconds.map { .integer($0) } ?? .null) })),
            .init("kept_until_ms", keptUntil.map { .integer($0) } ?? .null),
        ]
    }
}
