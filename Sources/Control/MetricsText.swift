package import ControlProtocol

/// A report in Prometheus's text format 0.0.4: base units, counters that end in `_total`, a `HELP` and a `TYPE` for
/// each.
///
/// Pure. A counter must count for the daemon's life (`StatusReport.add`).
package struct MetricsText {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"
    private var text = ""

    package static func text(_ report: StatusReport) -> String {
        var metrics = MetricsText()
        metrics.daemon(report)
        metrics.video(report.video)
        metrics.audio(report.audio)
        metrics.counter("dropped_total", "Samples dropped before encoding, by cause.", report.drops.labelled("cause"))
        metrics.queue(report.queue)
        metrics.destinations(report.destinations)
        metrics.webhooks(report.webhooks)
        metrics.histogram(
            "socket_to_encoder_seconds", "From a frame's last byte at the socket to the end of its encoding.",
            report.latency.filter { $0.path == "socket_to_encoder" }.map { ([], $0.distribution) })
        metrics.memory(report.memory)
        metrics.timeline(report.timeline)
        metrics.process(report)
        return metrics.text
    }

    private mutating func daemon(_ report: StatusReport) {
        gauge("build_info", "Version of the running daemon; the value is 1.", [([("version", report.version)], 1)])
        gauge(
            "state", "1 for the current state of the daemon, 0 for the others.",
            StatusReport.State.allCases.map { ([("state", $0.rawValue)], $0 == report.state ? 1 : 0) })
        gauge(
            "air_state", "1 for what viewers get, 0 for the other states.",
            AirState.allCases.map { ([("state", $0.rawValue)], $0 == report.air.state ? 1 : 0) })
        gauge("on_air", "1 while an RTMP destination takes media.", report.air.state.isOnAir ? 1 : 0)
        gauge("recording", "1 while a file destination takes media.", report.air.isRecording ? 1 : 0)
        // Both values are of the same moment, so that the result does not change between reports.
        let airBegan = report.process.startTimeMilliseconds + report.uptimeMilliseconds - report.air.sinceMilliseconds
        gauge(
            "air_state_since_timestamp_seconds", "Unix time at which the current air state began.",
            Double(airBegan) / 1000)
        gauge("uptime_seconds", "Time since the daemon started.", Double(report.uptimeMilliseconds) / 1000)
        counter("broadcasts_total", "Broadcasts started.", report.broadcasts)
        gauge("client_connected", "1 while a capture client is connected.", report.client == nil ? 0 : 1)
        gauge("curtain_up", "1 while viewers see the curtain.", report.privacy.curtain.isUp ? 1 : 0)
        gauge("curtain_holders", "Holders of the curtain.", Double(report.privacy.curtain.holders.count))
        gauge("hidden_regions", "Standing regions that are hidden.", Double(report.privacy.regions.count))
        gauge(
            "protection_on", "1 for each protection that is on, 0 for the others.",
            report.privacy.protections.map { ([("protection", $0.name)], $0.isOn ? 1 : 0) })
        counter("audit_lost_lines_total", "Lines missing from the audit log.", report.privacy.auditLost)
    }

    private mutating func video(_ video: VideoStatus) {
        counter("video_frames_received_total", "Frames received.", video.framesReceived)
        counter("video_frames_encoded_total", "Frames encoded, including repetitions.", video.framesEncoded)
        counter("video_frames_repeated_total", "Encoded frames that repeat the shown picture.", video.framesRepeated)
        counter("video_frames_unchanged_total", "Frames that looked like the one before.", video.framesUnchanged)
        counter(
            "video_frames_partial_total", "Frames of which only the damage was converted.", video.framesPartial)
        counter("video_keyframes_total", "Encoded frames that are keyframes.", video.keyframes)
        counter("video_encoded_bytes_total", "Encoded video.", video.bytesEncoded)
        gauge("video_target_bytes_per_second", "Target bitrate of video.", bytes(video.targetBitsPerSecond))
        gauge("video_bytes_per_second", "Video bitrate that the encoder delivers.", bytes(video.bitsPerSecond))
        gauge("video_frame_rate_divisor", "The encoder takes one frame in this many.", Double(video.frameRateDivisor))
        gauge(
            "video_effort", "1 for the effort that the encoder uses, 0 for the others.",
            VideoStatus.efforts.map { ([("effort", $0)], $0 == video.effort ? 1 : 0) })
        gauge(
            "video_configured_effort", "1 for the configured effort, 0 for the others.",
            VideoStatus.efforts.map { ([("effort", $0)], $0 == video.configuredEffort ? 1 : 0) })
    }

    private mutating func audio(_ audio: AudioStatus) {
        counter(
            "audio_blocks_received_total", "PCM messages received.",
            [
                ([("source", "app")], Double(audio.appBlocksReceived)),
                ([("source", "microphone")], Double(audio.microphoneBlocksReceived)),
            ])
        counter("audio_samples_encoded_total", "Samples encoded per channel.", audio.samplesEncoded)
        counter("audio_silence_samples_total", "Encoded silence where no source had sound.", audio.silenceSamples)
        counter("audio_encoded_bytes_total", "Encoded audio.", audio.bytesEncoded)
        gauge("audio_target_bytes_per_second", "Target bitrate of audio.", bytes(audio.targetBitsPerSecond))
        gauge(
            "audio_level_peak_dbfs", "Peak of the last half second.",
            audio.levels.map { ([("source", $0.source)], $0.peakDecibels) })
        gauge(
            "audio_level_rms_dbfs", "RMS of the last half second.",
            audio.levels.map { ([("source", $0.source)], $0.rmsDecibels) })
        gauge(
            "audio_silent_seconds", "Time since the source last had sound above -60 dBFS.",
            audio.levels.map { ([("source", $0.source)], Double($0.silentMilliseconds) / 1000) })
    }

    private mutating func queue(_ queue: QueueStatus) {
        gauge("queue_seconds", "Media that the slowest destination has yet to send.", Double(queue.milliseconds) / 1000)
        gauge("queue_bytes", "Media that the slowest destination has yet to send.", Double(queue.bytes))
        gauge("queue_packets", "Packets that the slowest destination has yet to send.", Double(queue.packets))
        gauge("queue_capacity_seconds", "Capacity of the packet log.", Double(queue.capacityMilliseconds) / 1000)
        gauge("queue_capacity_bytes", "Capacity of the packet log.", Double(queue.capacityBytes))
    }

    private mutating func destinations(_ all: [DestinationStatus]) {
        func each(_ value: (DestinationStatus) -> Int) -> [Sample] {
            all.map { ([("destination", $0.name)], Double(value($0))) }
        }
        func each(_ label: String, _ counters: (DestinationStatus) -> [Counter]) -> [Sample] {
            all.flatMap { destination in
                counters(destination).map {
                    ([("destination", destination.name), (label, $0.name)], Double($0.value))
                }
            }
        }
        gauge(
            "destination_state", "1 for the current state of a destination, 0 for the others.",
            all.flatMap { destination in
                DestinationStatus.State.allCases.map {
                    (
                        [("destination", destination.name), ("state", $0.rawValue)],
                        $0 == destination.state ? 1 : 0
                    )
                }
            })
        gauge(
            "destination_info", "Kind of each destination, such as rtmp or file; the value is 1.",
            all.map { ([("destination", $0.name), ("kind", $0.kind.rawValue)], 1) })
        gauge(
            "destination_down_seconds", "Time since the destination last took media in this broadcast.",
            all.map { ([("destination", $0.name)], Double($0.downMilliseconds) / 1000) })
        counter("destination_sent_bytes_total", "Bytes sent.", each(\.bytesSent))
        counter("destination_sent_packets_total", "Packets sent.", each(\.packetsSent))
        counter(
            "destination_acknowledged_bytes_total", "Bytes that the server acknowledged.", each(\.bytesAcknowledged))
        counter("destination_connects_total", "Connections over which packets flowed.", each(\.connects))
        counter(
            "destination_failures_total", "Failed attempts and broken connections.", each("cause", \.failures))
        counter("destination_dropped_packets_total", "Packets dropped for this destination.", each("cause", \.drops))
        gauge(
            "destination_lag_seconds", "Delay of packets at the server.",
            all.map { ([("destination", $0.name)], Double($0.lagMilliseconds) / 1000) })
        gauge(
            "destination_backlog_seconds", "Part of the lag that waits in the packet log.",
            all.map { ([("destination", $0.name)], Double($0.backlogMilliseconds) / 1000) })
        gauge("destination_backlog_bytes", "Bytes that wait in the packet log.", each(\.backlogBytes))
        histogram(
            "destination_socket_to_wire_seconds", "From a frame's last byte at the socket to its packet's write.",
            all.map { ([("destination", $0.name)], $0.latency.distribution) })
    }

    private mutating func memory(_ memory: MemoryStatus) {
        gauge("memory_resident_bytes", "Resident set of the process.", Double(memory.residentBytes))
        gauge("memory_peak_resident_bytes", "Highest resident set of the process.", Double(memory.peakResidentBytes))
        gauge("memory_anonymous_bytes", "Anonymous part of the resident set.", Double(memory.anonymousBytes))
        gauge("memory_needed_bytes", "Memory that the kernel cannot reclaim.", Double(memory.neededBytes))
        gauge("memory_plan_bytes", "Total of the memory plan.", Double(memory.planBytes))
        gauge("memory_cap_bytes", "Configured memory cap.", Double(memory.capBytes))
        gauge("memory_limit_bytes", "Tightest memory limit of the process.", Double(memory.limitBytes))
        gauge("memory_planned_bytes", "Memory plan by purpose.", memory.plan.labelled("purpose"))
        gauge(
            "memory_given_up_bytes", "Memory that the governor has taken away from the broadcast.",
            StatusReport.memorySteps.map { step in
                ([("step", step)], Double(memory.givenUp.first { $0.name == step }?.value ?? 0))
            })
        gauge(
            "memory_bitrate_loss_ratio", "Additional bitrate for the same picture while memory is short.",
            Double(memory.bitrateLossPercent) / 100)
        counter(
            "memory_steps_total", "Steps of the memory governor.",
            [
                ([("direction", "down")], Double(memory.stepsDown)), ([("direction", "up")], Double(memory.stepsUp)),
            ])
    }

    private mutating func webhooks(_ all: [WebhookStatus]) {
        counter(
            "webhook_deliveries_total", "Events for webhooks by result: delivered, failed or dropped.",
            all.flatMap { hook in
                [("delivered", hook.delivered), ("failed", hook.failed), ("dropped", hook.dropped)].map {
                    ([("hook", hook.name), ("result", $0)], Double($1))
                }
            })
        gauge(
            "webhook_queue", "Events that wait for a webhook, and the one that is being delivered.",
            all.map { ([("hook", $0.name)], Double($0.queued)) })
    }

    private mutating func timeline(_ timeline: [Counter]) {
        counter(
            "timeline_events_total", "Corrections of the timeline, by kind.",
            timeline.filter { StatusReport.timelineEvents.contains($0.name) }.labelled("event"))
        gauge(
            "clock_drift_ppm", "Speed of a source's clock relative to the daemon's, in parts per million.",
            timeline.filter { $0.name.hasSuffix("_drift_ppm") }.map {
                ([("source", String($0.name.dropLast("_drift_ppm".count)))], Double($0.value))
            })
    }

    /// Names, units and meanings are those of Prometheus's client libraries.
    private mutating func process(_ report: StatusReport) {
        let process = report.process
        family(
            "process_cpu_seconds_total", "Processor time of the process, user and system.", "counter",
            [([], Double(process.cpuMilliseconds) / 1000)])
        for (name, help, value) in [
            (
                "process_start_time_seconds", "Unix time at which the process started.",
                Double(process.startTimeMilliseconds) / 1000
            ),
            ("process_open_fds", "Open descriptors.", Double(process.openDescriptors)),
            ("process_max_fds", "Most descriptors that may be open.", Double(process.maximumDescriptors)),
            ("process_resident_memory_bytes", "Resident set of the process.", Double(report.memory.residentBytes)),
            ("process_virtual_memory_bytes", "Address space of the process.", Double(process.virtualBytes)),
        ] {
            family(name, help, "gauge", [([], value)])
        }
    }

    // MARK: The format

    private typealias Labels = [(name: String, value: String)]
    fileprivate typealias Sample = (labels: [(name: String, value: String)], value: Double)

    private mutating func gauge(_ name: String, _ help: String, _ value: Double) { gauge(name, help, [([], value)]) }
    private mutating func gauge(_ name: String, _ help: String, _ samples: [Sample]) {
        family("upcast_\(name)", help, "gauge", samples)
    }
    private mutating func counter(_ name: String, _ help: String, _ value: Int) {
        counter(name, help, [([], Double(value))])
    }
    private mutating func counter(_ name: String, _ help: String, _ samples: [Sample]) {
        family("upcast_\(name)", help, "counter", samples)
    }

    private mutating func family(_ name: String, _ help: String, _ type: String, _ samples: [Sample]) {
        head(name, help, type)
        for sample in samples { line(name, sample.labels, sample.value) }
    }

    private mutating func histogram(
        _ name: String, _ help: String, _ all: [(labels: [(name: String, value: String)], LatencyStatus.Distribution)]
    ) {
        head("upcast_\(name)", help, "histogram")
        for (labels, distribution) in all {
            for (bound, count) in zip(distribution.bounds, distribution.atMost) {
                let seconds = Self.number(Double(bound) / 1_000_000)
                line("upcast_\(name)_bucket", labels + [("le", seconds)], Double(count))
            }
            line("upcast_\(name)_bucket", labels + [("le", "+Inf")], Double(distribution.count))
            line("upcast_\(name)_sum", labels, Double(distribution.totalMicroseconds) / 1_000_000)
            line("upcast_\(name)_count", labels, Double(distribution.count))
        }
    }

    private mutating func head(_ name: String, _ help: String, _ type: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private mutating func line(_ name: String, _ labels: [(name: String, value: String)], _ value: Double) {
        let inside = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        text += name + (inside.isEmpty ? "" : "{\(inside)}") + " \(Self.number(value))\n"
    }

    /// Prometheus's base unit is the byte.
    private func bytes(_ bits: Int) -> Double { Double(bits) / 8 }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
    }

    private static func escaped(_ value: String) -> String {
        var result = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}

extension [Counter] {
    fileprivate func labelled(_ name: String) -> [MetricsText.Sample] { map { ([(name, $0.name)], Double($0.value)) } }
}
