internal import Adaptation
internal import AudioMixing
internal import Buffering
internal import ControlProtocol
internal import FrameGeometry
internal import IngestProtocol
internal import LinuxSystem
internal import Measurement
internal import MediaCore
internal import Publishing
internal import Timeline

/// The status of one broadcast. Counters are atomics; the rest are copies.
extension Broadcast {
    func clientStatus(at now: MediaTime) -> ClientStatus {
        var client = ClientStatus()
        client.name = started.clientName
        client.kind = "\(started.source)"
        client.connectedMilliseconds = Int((now - startedAt).milliseconds)
        return client
    }

    func fill(_ report: inout StatusReport, _ destinations: [DestinationSnapshot], at now: MediaTime) {
        fillVideo(&report.video)
        fillAudio(&report.audio)
        report.drops = drops
        let backlog = destinations.backlog
        report.queue.milliseconds = Int(backlog.duration.milliseconds)
        report.queue.bytes = backlog.bytes
        report.queue.packets = backlog.packets
        report.destinations = destinations.map { $0.status(at: now) }
        report.timeline = timelineCounters
        report.latency = [LatencyStatus("socket_to_encoder", counters.encodeLatency.withLock { $0.summary })]
    }

    private func fillVideo(_ status: inout VideoStatus) {
        status.effort = encoder.currentEffort?.rawValue ?? ""
        status.source = inlet.planner.sourceDescription
        status.scaler = inlet.scaler.rawValue
        status.framesReceived = counters.framesReceived.asInt
        status.framesEncoded = counters.framesEncoded.asInt + counters.framesRepeated.asInt
        status.framesRepeated = counters.framesRepeated.asInt
        status.framesUnchanged = counters.framesUnchanged.asInt
        status.framesPartial = counters.framesPartial.asInt
        status.keyframes = meter.keyframes.asInt
        status.bytesEncoded = meter.videoBytes.asInt
        let step = bitrate.current
        status.targetBitsPerSecond = step.bitrate
        status.frameRateDivisor = step.frameRateDivisor
    }

    private func fillAudio(_ audio: inout AudioStatus) {
        let mixer = mixerCounters
        audio.appBlocksReceived = counters.audioBlocks[0].asInt
        audio.microphoneBlocksReceived = counters.audioBlocks[1].asInt
        audio.samplesEncoded = meter.audioPackets.asInt * 1024
        audio.silenceSamples = mixer.silentBlocks * 1024
        audio.bytesEncoded = meter.audioBytes.asInt
        audio.levels = [("app", mixer.app), ("microphone", mixer.microphone)].filter { $0.1.blocks > 0 }.map {
            AudioLevelStatus($0.0, $0.1.level, sampleRate: audio.sampleRate)
        }
    }

    /// Samples that were thrown away before they were encoded. Each destination's status has its own drops.
    private var drops: [Counter] {
        let mixer = mixerCounters
        let pcm = queue.statistics
        return SampleDropCause.allCases.map { cause in
            let count =
                switch cause {
                case .videoSuperseded: Int(clamping: slot.superseded)
                case .videoAboveFrameRate: counters.framesAboveRate.asInt
                case .videoNotAfterPrevious: counters.framesOutOfOrder.asInt
                case .videoAbandoned: counters.framesAbandoned.asInt
                case .videoPaused: counters.framesPaused.asInt
                case .videoCurtained: Int(clamping: framesCurtained)
                case .audioPaused: counters.audioPaused.asInt
                case .audioQueueFull: Int(clamping: pcm.dropped + pcm.refused)
                case .audioRefused: counters.audioRefused.asInt
                case .audioLate: mixer.app.lateFrames + mixer.microphone.lateFrames
                case .audioEarly: mixer.app.earlyFrames + mixer.microphone.earlyFrames
                case .audioOverlap: mixer.app.overlapFrames + mixer.microphone.overlapFrames
                }
            return Counter(cause.rawValue, count)
        }
    }

    private var timelineCounters: [Counter] {
        let timeline = inlet.times.counters
        let mixer = mixerCounters
        return [
            Counter("jumps_forward", timeline.jumpsForward),
            Counter("jumps_backward", timeline.jumpsBackward),
            Counter("lateness_rebases", timeline.latenessRebases),
            Counter("largest_drift_us", Int(clamping: timeline.largestDrift.nanoseconds / 1000)),
            Counter("orientation_missing", counters.orientationMissing.asInt),
            Counter("orientation_invalid", counters.orientationInvalid.asInt),
            Counter("video_format_changes", counters.formatChanges.asInt),
            Counter("audio_format_changes", mixer.app.formatChanges + mixer.microphone.formatChanges),
            Counter("audio_latency_ms", Int(mixer.latency.milliseconds)),
            Counter("app_drift_ppm", mixer.app.driftPartsPerMillion),
            Counter("microphone_drift_ppm", mixer.microphone.driftPartsPerMillion),
        ]
    }
}

extension AudioLevelStatus {
    init(_ source: String, _ level: SoundLevel, sampleRate: Int) {
        self.init()
        self.source = source
        (peakDecibels, rmsDecibels) = (level.peakDecibels, level.rmsDecibels)
        silentMilliseconds = sampleRate > 0 ? level.silentFrames * 1000 / sampleRate : 0
    }
}
