package import MediaCore

/// What `PacketLog.takeBack` came to.
package struct TakenBack: Equatable, Sendable {
    /// Decode times of the last packets that have gone out or still will, on the foremost reader; nil for none.
    package var lastVideo: MediaTime?
    package var lastAudio: MediaTime?
    /// Packets that no reader had had.
    package var videoPackets = 0
    package var audioPackets = 0
    /// Packets that were decoded up to then still go out; nil: none does.
    package var keptUntil: MediaTime?
    /// The newest presentation time of those that the log holds; nil where it holds none.
    package var lastKeptPTS: MediaTime?

    package init(lastVideo: MediaTime? = nil, lastAudio: MediaTime? = nil) {
        self.lastVideo = lastVideo
        self.lastAudio = lastAudio
    }
}
