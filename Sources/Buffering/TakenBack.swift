package import MediaCore

/// What `PacketLog.takeBack` came to.
package struct TakenBack: Equatable, Sendable {
    /// Decode times of the last packets that have gone out or still will, on the foremost reader; nil for none.
    package var lastVideo: MediaTime?
    package var lastAudio: MediaTime?
    /// Packets that no reader had had.
    package var videoPackets = 0
    package var audioPackets = 0

    package init(lastVideo: MediaTime? = nil, lastAudio: MediaTime? = nil) {
        self.lastVideo = lastVideo
        self.lastAudio = lastAudio
    }
}
