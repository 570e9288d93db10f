package import MediaCore

/// The result of `PacketLog.takeBack`.
package struct TakenBack: Equatable, Sendable {
    /// Decode times of the last packets that the foremost cursor has sent or will send; nil for none.
    package var lastVideo: MediaTime?
    package var lastAudio: MediaTime?
    /// The number of packets that were taken back before any cursor read them.
    package var videoPackets = 0
    package var audioPackets = 0
    /// Packets up to this decode time are still sent; nil for none.
    package var keptUntil: MediaTime?
    /// The newest presentation time of the packets that are kept; nil for none.
    package var lastKeptPTS: MediaTime?

    package init(lastVideo: MediaTime? = nil, lastAudio: MediaTime? = nil) {
        self.lastVideo = lastVideo
        self.lastAudio = lastAudio
    }
}
