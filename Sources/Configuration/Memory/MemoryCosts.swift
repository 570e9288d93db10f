/// The memory of each stage for one configuration, in bytes. The pipeline fills it in from the stages' own
/// functions, so that this module does not depend on them.
package struct MemoryCosts: Equatable, Sendable {
    /// The cost of disabling subpixel motion search, which does not fit.
    package struct Compromise: Equatable, Sendable {
        /// Additional bitrate for the same picture quality, in per cent.
        package var bitratePercent: Int
        /// The `memory.cap_bytes` that avoids the compromise.
        package var fullCapBytes: Int

        package init(bitratePercent: Int, fullCapBytes: Int) {
            self.bitratePercent = bitratePercent
            self.fullCapBytes = fullCapBytes
        }
    }

    /// The executable, its libraries and the Swift runtime, resident before any stage exists. A measured value.
    package var baseline = 0
    package var videoEncoder = 0
    package var audioEncoder = 0
    /// One canvas, and the number of canvases.
    package var canvas = 0
    package var canvasCount = 1
    /// The buffer for the message that is being read.
    package var ingestBand = 0
    package var scaler = 0
    /// For app audio and microphone together.
    package var pcmQueue = 0
    package var audioMixer = 0
    /// The index of the packet log, in addition to `buffer.max_bytes`.
    package var packetLogIndex = 0
    /// For all destinations together.
    package var sendBuffers = 0
    /// For each destination with TLS.
    package var tlsSession = 0
    /// For each webhook with `https://`.
    package var webhookTLS = 0
    package var controlServer = 0
    package var snapshots = 0
    /// For each webhook.
    package var webhook = 0
    /// Decoding the curtain picture. This memory is freed before a broadcast's stages allocate theirs.
    package var curtainDecoding = 0
    /// Touched stack pages of one thread. The plan adds one for each destination and webhook.
    package var threadStack = 0
    /// The number of threads without those of destinations and webhooks.
    package var threadCount = 0
    /// Reserve for fragmentation and unplanned allocations.
    package var reserve = 0
    package var compromise: Compromise?

    package init() {}
}
