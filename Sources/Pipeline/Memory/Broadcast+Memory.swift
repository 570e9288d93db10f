internal import Buffering
internal import Configuration
internal import Encoding
internal import LinuxSystem
internal import MediaCore

/// The memory that one broadcast can give up, computed from its configuration at its start.
struct MemorySavings: Sendable {
    struct Log: Equatable, Sendable {
        var maxBytes: Int
        var maxDelay: MediaTime
    }

    let fullLog: Log
    let halfLog: Log
    let leastLog: Log
    let fit: MemoryFit
    /// Bytes of the third picture; zero if there are two.
    let pictureBytes: Int
    /// The encoder's settings at the start of the broadcast.
    let encoder: VideoEncoderSettings
    /// Bytes that each step of the encoder saves after the steps before it.
    let encoderBytes: [EncoderSavings: Int]

    init(_ configuration: Configuration) {
        let (buffer, video) = (configuration.buffer, configuration.video)
        fullLog = Log(maxBytes: buffer.maxBytes, maxDelay: buffer.delay)
        // Gives up the delay before the part that a late destination needs.
        var withoutDelay = configuration
        withoutDelay.buffer.delay = .zero
        let least = min(buffer.maxBytes, max(BufferConfiguration.leastBytes, withoutDelay.leastLogBytes))
        let half = max(least, buffer.maxBytes / 2)
        let bytesPerSecond = (video.bitrate + configuration.audio.bitrate) / 8
        let delay = MediaTime.milliseconds(Int64((half - least) * 1000 / max(1, bytesPerSecond)))
        halfLog = Log(maxBytes: half, maxDelay: min(buffer.delay, delay))
        leastLog = Log(maxBytes: least, maxDelay: .zero)
        fit = configuration.memoryFit
        pictureBytes = fit.pictures > 2 ? Picture.byteCount(width: video.width, height: video.height) : 0
        encoder = configuration.videoEncoderSettings(fit)
        var (settings, encoderBytes) = (encoder, [EncoderSavings: Int]())
        for saving in EncoderSavings.each {
            guard let lean = VideoEncoder.lean(settings, saving) else { continue }
            encoderBytes[saving] = VideoEncoder.estimatedBytes(settings) - VideoEncoder.estimatedBytes(lean)
            settings = lean
        }
        self.encoderBytes = encoderBytes
    }

    /// All steps in their order, each with the bytes that it saves.
    var steps: [(step: MemoryStep, savedBytes: Int)] {
        MemoryStep.allCases.map { step in
            switch step {
            case .halfLog: (step, fullLog.maxBytes - halfLog.maxBytes)
            case .leastLog: (step, halfLog.maxBytes - leastLog.maxBytes)
            case .twoPictures: (step, pictureBytes)
            case .oneThread: (step, encoderBytes[.oneThread] ?? 0)
            case .noSubpixelMotion: (step, encoderBytes[.noSubpixelMotion] ?? 0)
            }
        }
    }
}

extension Broadcast {
    /// Any thread: gives up exactly `steps`, and takes everything else back.
    ///
    /// - Returns: false if the kernel refused the memory for the change.
    func giveUp(_ steps: [MemoryStep]) -> Bool {
        var wanted = savings.fullLog
        if steps.contains(.halfLog) { wanted = savings.halfLog }
        if steps.contains(.leastLog) { wanted = savings.leastLog }
        var isDone = true
        if log.limits.maxBytes != wanted.maxBytes {
            isDone = log.resize(maxBytes: wanted.maxBytes, maxDelay: wanted.maxDelay)
        }
        if savings.pictureBytes > 0 {
            if steps.contains(.twoPictures) { slot.shedPicture() } else { slot.restorePicture() }
        }
        var saved = EncoderSavings()
        if steps.contains(.oneThread) { saved.insert(.oneThread) }
        if steps.contains(.noSubpixelMotion) { saved.insert(.noSubpixelMotion) }
        encoder.save(saved)
        ProcessMemory.releaseFreed()
        return isDone
    }
}
