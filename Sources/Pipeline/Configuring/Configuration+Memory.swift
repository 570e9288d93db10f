internal import Privacy
internal import AudioMixing
internal import Buffering
package import Configuration
internal import Encoding
internal import FrameGeometry
internal import MediaCore

extension Configuration {
    /// The memory plan of this configuration: the sum of what each stage holds, before anything is allocated.
    package var memoryPlan: MemoryPlan { memoryPlan(nil) }

    /// The plan of a broadcast that was given `fit`; nil for a broadcast that has not begun.
    func memoryPlan(_ fit: MemoryFit?) -> MemoryPlan {
        MemoryPlan(self) { configuration in
            let fit = fit ?? configuration.memoryFit
            var costs = configuration.memoryCosts(fit)
            costs.compromise = configuration.capWithSubpixelMotion(fit).map {
                MemoryCosts.Compromise(bitratePercent: VideoEncoder.subpixelMotionPercent, fullCapBytes: $0)
            }
            return costs
        }
    }

    func memoryCosts(_ fit: MemoryFit) -> MemoryCosts {
        var costs = MemoryCosts()
        costs.baseline = MeasuredMemory.baseline
        costs.audioEncoder = AudioEncoder.estimatedBytes
        costs.canvas = Picture.byteCount(width: video.width, height: video.height)
        costs.canvasCount = fit.pictures
        costs.videoEncoder = VideoEncoder.estimatedBytes(videoEncoderSettings(fit))
        costs.ingestBand = MeasuredMemory.ingestMessages
        costs.scaler = FrameIntake.memoryBytes(canvas: video.canvas, scaler: scalerChoice)
        costs.pcmQueue = Broadcast.pcmQueueBytes
        costs.audioMixer = AudioMixer.memoryBytes(mixerSettings(expecting: []))
        costs.packetLogIndex = packetLogLimits.reservedBytes - buffer.maxBytes
        costs.sendBuffers = sendBufferBytes
        costs.tlsSession = MeasuredMemory.tlsSession
        let hasAudit = privacy.auditFile != nil
        costs.controlServer =
            MeasuredMemory.controlServer + StatusHistory.memoryBytes + (hasAudit ? AuditLog.memoryBytes : 0)
        costs.snapshots = SnapshotBooth.memoryBytes(video.canvas, size: control.snapshotSize)
        costs.webhook = MeasuredMemory.webhook
        costs.webhookTLS = MeasuredMemory.webhookTLS
        costs.curtainDecoding = StillPicture.decodingBytes
        costs.threadStack = MeasuredMemory.threadStack
        // The threads: main, ingest, video, audio, close, the control server's two, and the audit log's writer. The
        // reserve covers the threads that write the log and the state file, and those that read files.
        costs.threadCount = 7 + (hasAudit ? 1 : 0)
        costs.reserve = MeasuredMemory.reserve
        return costs
    }
}

/// Figures of the plan that no stage can calculate, because third-party libraries hold the memory. Measured in
/// release builds on Debian 12 (x86_64).
private enum MeasuredMemory {
    /// The daemon's memory when it is ready: 4.4 MiB of anonymous pages (relocations of libavcodec's hundred
    /// libraries, the Swift runtime) and 0.4 MiB of page tables. It also counts the code and constants in use. While
    /// the daemon encodes, 7.6 to 10 MiB of them are mapped, and about 1.9 MiB are used within four seconds. Inside a
    /// cgroup the daemon keeps up with 4.8 MiB; with 2.9 MiB it reads the pages again and again. The kernel reclaims
    /// the rest when it needs them.
    static let baseline = 5_000_000 + MemoryRoom.codeInUse
    /// The session's head, scratch and outbox buffers.
    static let ingestMessages = 4_112 + 65_536 + 32_768
    static let tlsSession = 1_000_000
    /// Includes 256 events of usual length.
    static let controlServer = 830_000
    /// `WebhookCenter.memoryBytes`, which is in a higher row; a test compares them.
    static let webhook = 300_000
    /// Four hooks whose handshakes ran at once took 181 KiB each at most, with the system's CAs, queues included.
    static let webhookTLS = 300_000
    static let threadStack = 48 * 1024
    static let reserve = 500_000
}
