/// What the stages say they hold for one configuration, in bytes. The composition fills it in from the stages' own
/// functions, so that nothing here knows a stage.
package struct MemoryCosts: Equatable, Sendable {
    /// What was left out of the encoder because it does not fit.
    package struct Compromise: Equatable, Sendable {
        /// Per cent more bits for the same picture.
        package var bitratePercent: Int
        /// The `memory.cap_bytes` under which it would be there.
        package var fullCapBytes: Int

        package init(bitratePercent: Int, fullCapBytes: Int) {
            self.bitratePercent = bitratePercent
            self.fullCapBytes = fullCapBytes
        }
    }

    /// The executable, its libraries and the Swift runtime, resident before any stage exists. Measured.
    package var baseline = 0
    package var videoEncoder = 0
    package var audioEncoder = 0
    /// One canvas, and how many there are.
    package var canvas = 0
    package var canvasCount = 1
    /// What a message is read into before it is a picture.
    package var ingestBand = 0
    package var scaler = 0
    /// App and microphone together.
    package var pcmQueue = 0
    package var audioMixer = 0
    /// Bookkeeping of the packet log beside `buffer.max_bytes`.
    package var packetLogIndex = 0
    /// For each destination.
    package var sendBuffer = 0
    /// For each destination with `rtmps://`.
    package var tlsSession = 0
    package var controlServer = 0
    package var snapshots = 0
    /// Decoding the curtain's picture, which is over before a broadcast's stages take their memory.
    package var curtainDecoding = 0
    /// Touched pages of one thread's stack; the plan counts a thread for each destination itself.
    package var threadStack = 0
    /// Threads that exist whatever the number of destinations.
    package var threadCount = 0
    /// Fragmentation and what nobody thought of.
    package var reserve = 0
    package var compromise: Compromise?

    package init() {}
}
