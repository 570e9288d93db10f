internal import AudioMixing
internal import Buffering
package import Configuration
internal import Encoding
internal import FrameGeometry
internal import MediaCore

extension Configuration {
    /// The memory plan of this configuration: what each stage says it holds, added up before anything is allocated.
    package var memoryPlan: MemoryPlan { MemoryPlan(self, costing: \.memoryCosts) }

    private var memoryCosts: MemoryCosts {
        var costs = MemoryCosts()
        costs.baseline = MeasuredMemory.baseline
        costs.audioEncoder = AudioEncoder.estimatedBytes
        costs.canvas = Picture.byteCount(width: video.width, height: video.height)
        costs.canvasCount = Broadcast.pictureCount
        costs.videoEncoder = VideoEncoder.estimatedBytes(videoEncoderSettings)
        costs.ingestBand = MeasuredMemory.ingestMessages
        costs.scaler = FrameIntake.memoryBytes(canvas: video.canvas)
        costs.pcmQueue = Broadcast.pcmQueueBytes
        costs.audioMixer = AudioMixer.memoryBytes(mixerSettings(expecting: []))
        costs.packetLogIndex = packetLogLimits.reservedBytes - buffer.maxBytes
        costs.sendBuffer = maximumPacketBytes + MeasuredMemory.socketBuffer
        costs.tlsSession = MeasuredMemory.tlsSession
        costs.systemTrust = MeasuredMemory.systemTrust
        costs.fileTrust = MeasuredMemory.fileTrust
        costs.controlServer = MeasuredMemory.controlServer
        costs.threadStack = MeasuredMemory.threadStack
        // Main, ingest, video, audio, close, and the control server's two.
        costs.threadCount = 7
        costs.reserve = MeasuredMemory.reserve
        return costs
    }
}

/// Figures of the plan that no stage can work out, because other people's libraries hold the memory: measured in
/// release builds on Debian 12 (x86_64).
private enum MeasuredMemory {
    /// Resident when the daemon says that it is ready: the executable, libavcodec's hundred libraries, the Swift
    /// runtime.
    static let baseline = 16_000_000
    /// The session's head, scratch and outbox buffers.
    static let ingestMessages = 4_112 + 65_536 + 32_768
    /// What the kernel may hold of a destination's socket (SO_SNDBUF 256 KiB, SO_RCVBUF 32 KiB, which it doubles).
    static let socketBuffer = 589_824
    static let tlsSession = 1_000_000
    /// The system's 139 certificates in GnuTLS.
    static let systemTrust = 3_900_000
    static let fileTrust = 200_000
    static let controlServer = 700_000
    static let threadStack = 48 * 1024
    static let reserve = 1_000_000
}
