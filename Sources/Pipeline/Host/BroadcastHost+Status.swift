internal import AudioMixing
internal import Buffering
internal import Configuration
package import ControlProtocol
internal import FrameGeometry
internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore
internal import Publishing
internal import Timeline

/// What control is told. Nothing here waits for a data thread: counters are atomics, the rest are copies.
extension BroadcastHost {
    /// Any thread: everything as it is now.
    package var status: StatusReport {
        var report = look().report
        report.memory = memoryStatus
        report.privacy = privacyStatus
        return report
    }

    /// The report with counters of the daemon's whole life, for metrics.
    package var totals: StatusReport {
        let (report, isIdle, earlier) = look()
        var totals = isIdle ? report.gaugesOnly : report
        totals.memory = memoryStatus
        totals.privacy = privacyStatus
        totals.add(earlier)
        return totals
    }

    /// Everything but memory, and what the broadcasts that have ended counted: of one moment, so that a broadcast that
    /// ends meanwhile is in one of the two.
    func look() -> (report: StatusReport, isIdle: Bool, earlier: StatusReport) {
        notePhase()
        // After it: what began just now began no later.
        let now = clock.now()
        let (broadcast, phase, since, count, bitrate, ended, totals) = state.withLock {
            ($0.broadcast, $0.phase, $0.phaseSince, $0.count, $0.videoBitrate, $0.lastDestinations, $0.totals)
        }
        var report = StatusReport()
        report.version = Version.current
        report.uptimeMilliseconds = Int((now - startedAt).milliseconds)
        report.broadcasts = Int(clamping: count)
        report.video.width = configuration.video.width
        report.video.height = configuration.video.height
        report.video.frameRate = "\(configuration.video.frameRate)"
        report.video.encoder = configuration.video.encoder
        report.video.effort = configuration.video.encoderEffort?.rawValue ?? ""
        report.video.configuredEffort = report.video.effort
        report.video.scaler = configuration.scalerChoice.scaler(for: nil).rawValue
        report.video.targetBitsPerSecond = configuration.video.bitrate
        report.audio.sampleRate = configuration.audio.sampleRate
        report.audio.channels = configuration.audio.channels
        report.audio.targetBitsPerSecond = configuration.audio.bitrate
        report.queue.capacityBytes = configuration.buffer.maxBytes
        report.queue.capacityMilliseconds = Int(configuration.buffer.duration.milliseconds)
        report.state = phase
        report.stateMilliseconds = Int((now - since).milliseconds)
        guard let broadcast else {
            report.destinations = ended.isEmpty ? untriedDestinations : ended.map { $0.status(at: now) }
            nameURLs(in: &report)
            return (report, true, totals)
        }
        let destinations = broadcast.destinations.snapshots
        report.client = broadcast.clientStatus(at: now)
        report.video.bitsPerSecond = bitrate
        broadcast.fill(&report, destinations, at: now)
        report.destinations += refusing(broadcast.started.source)
        nameURLs(in: &report)
        return (report, false, totals)
    }

    /// URLs as they are configured, whatever a destination makes of them meanwhile (a part of a recording, the server
    /// that another one named): who goes by them finds the same at all times.
    private func nameURLs(in report: inout StatusReport) {
        let configured = currentConfiguration.destinations
        for index in report.destinations.indices {
            let name = report.destinations[index].name
            guard let destination = configured.first(where: { $0.name == name }) else { continue }
            report.destinations[index].url = destination.redactedURL
        }
    }

    /// Looks whether the state has changed; called at every change that can bring that about.
    func notePhase() {
        let now = clock.now()
        state.withLock { state in
            let phase = Self.phase(state)
            guard phase != state.phase else { return }
            state.phase = phase
            state.phaseSince = now
        }
    }

    private static func phase(_ state: State) -> StatusReport.State {
        guard !state.isStopping else { return .stopping }
        guard let broadcast = state.broadcast else { return .idle }
        guard state.closer == nil else { return .draining }
        guard !state.isPaused, !state.isHeld else { return .paused }
        guard !broadcast.destinations.contains(where: \.takesPackets) else { return .live }
        // The ones that have got packets may have been removed since.
        let hasBeenLive = state.phase == .live || state.phase == .reconnecting
        return hasBeenLive || broadcast.destinations.contains { $0.video.packets > 0 } ? .reconnecting : .starting
    }

    /// Those that take nothing of this broadcast.
    private func refusing(_ source: SourceKind) -> [DestinationStatus] {
        currentConfiguration.destinations.filter { $0.refuses(source) }.map { destination in
            var status = DestinationStatus()
            status.name = destination.name
            status.lastError = "it refuses \(source): nothing of this broadcast goes there"
            return status
        }
    }

    /// Before the first broadcast.
    private var untriedDestinations: [DestinationStatus] {
        currentConfiguration.destinations.map { destination in
            var status = DestinationStatus()
            status.name = destination.name
            return status
        }
    }
}

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
        status.source = inlet.sourceDescription
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
    }

    /// What was thrown away before it was encoded; a destination's own drops stand with it.
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
                case .videoPaused: counters.framesHeldBack.asInt
                case .videoCurtained: Int(clamping: framesCurtained)
                case .audioPaused: counters.audioHeldBack.asInt
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
        let timeline = inlet.timelineCounters
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
