import ControlProtocol
import Testing

@testable import upcastctl

extension StatusReport {
    /// A report in which every field differs from its default.
    static var full: StatusReport {
        var report = StatusReport()
        report.version = "0.1.0"
        report.state = .live
        report.stateMilliseconds = 723_000
        (report.air.state, report.air.sinceMilliseconds, report.air.isRecording) = (.impaired, 722_000, true)
        report.uptimeMilliseconds = 3_720_000
        report.broadcasts = 3
        var client = ClientStatus()
        (client.name, client.kind, client.connectedMilliseconds) = ("Screen \"1\"", "display", 723_500)
        report.client = client
        report.video.width = 1280
        report.video.height = 720
        report.video.frameRate = "30000/1001"
        report.video.encoder = "libx264"
        report.video.effort = "low"
        report.video.configuredEffort = "normal"
        report.video.scaler = "libyuv"
        report.video.source = "1920x1080 420v, orientation 6"
        report.video.framesReceived = 21_690
        report.video.framesEncoded = 21_688
        report.video.framesRepeated = 300
        report.video.framesUnchanged = 200
        report.video.framesPartial = 150
        report.video.keyframes = 362
        report.video.bytesEncoded = 232_000_000
        report.video.targetBitsPerSecond = 2_500_000
        report.video.frameRateDivisor = 2
        report.video.bitsPerSecond = 2_481_200
        report.audio.sampleRate = 48_000
        report.audio.channels = 2
        report.audio.appBlocksReceived = 33_893
        report.audio.microphoneBlocksReceived = 1
        report.audio.samplesEncoded = 34_704_000
        report.audio.silenceSamples = 60_000
        report.audio.bytesEncoded = 11_568_000
        report.audio.targetBitsPerSecond = 128_000
        var level = AudioLevelStatus()
        (level.source, level.peakDecibels, level.rmsDecibels) = ("app", -3.5, -20.1)
        level.silentMilliseconds = 12_000
        report.audio.levels = [level]
        report.drops = [Counter("superseded", 2), Counter("too_late", 1)]
        report.queue.milliseconds = 120
        report.queue.bytes = 40_000
        report.queue.packets = 12
        report.queue.capacityMilliseconds = 3000
        report.queue.capacityBytes = 2_097_152
        var main = DestinationStatus()
        main.name = "main"
        main.url = "rtmp://live.example.net/app/***"
        main.state = .congested
        main.stateMilliseconds = 4_200
        main.downMilliseconds = 90_000
        main.bytesSent = 232_100_000
        main.packetsSent = 55_000
        main.bytesAcknowledged = 231_000_000
        main.connects = 2
        main.failures = [Counter("connect_timeout", 1)]
        main.nextAttemptMilliseconds = 2_500
        main.drops = [Counter("disposable", 12)]
        main.lagMilliseconds = 960
        main.backlogMilliseconds = 910
        main.backlogBytes = 300_000
        main.shortConnections = 4
        main.lastError = "the server closed\nthe connection"
        main.lastErrorAgeMilliseconds = 12_000
        main.latency.path = "socket_to_wire"
        (main.latency.averageMicroseconds, main.latency.maximumMicroseconds) = (12_500, 45_000)
        (main.latency.medianMicroseconds, main.latency.percentile99Microseconds) = (9_300, 34_000)
        var file = DestinationStatus()
        file.name = "recording"
        file.url = "file:/var/lib/upcast/a.flv"
        file.state = .live
        report.destinations = [main, file]
        report.memory.residentBytes = 46_000_000
        report.memory.peakResidentBytes = 48_000_000
        report.memory.anonymousBytes = 29_000_000
        report.memory.planBytes = 49_000_000
        report.memory.capBytes = 52_428_800
        report.memory.plan = [Counter("video_encoder", 24_000_000)]
        report.memory.limit = "memory cgroup /sys/fs/cgroup/box"
        report.memory.limitBytes = 50_000_000
        report.memory.neededBytes = 33_000_000
        report.memory.givenUp = [Counter("half_log", 1_048_576)]
        report.memory.bitrateLossPercent = 60
        report.memory.stepsDown = 2
        report.memory.stepsUp = 1
        report.timeline = [Counter("jumps", 1), Counter("skew_us", -350)]
        var latency = LatencyStatus()
        (latency.path, latency.averageMicroseconds, latency.maximumMicroseconds) = ("socket_to_encoder", 12_345, 44_000)
        (latency.medianMicroseconds, latency.percentile99Microseconds) = (9_100, 33_000)
        report.latency = [latency]
        report.privacy.curtain.isUp = true
        var holder = CurtainHolderStatus()
        (holder.holder, holder.reason, holder.heldMilliseconds) = ("app:kiosk", "will resign active", 1_500)
        holder.user = 1000
        report.privacy.curtain.holders = [holder]
        var region = StandingRegionStatus()
        (region.holder, region.name, region.unit) = ("app:kiosk", "password", "normalized")
        region.user = 1000
        (region.x, region.y, region.width, region.height) = (0.1, 0.5, 0.3, 0.2)
        report.privacy.regions = [region]
        var protection = ProtectionStatus()
        (protection.name, protection.isOn, protection.isInUse) = ("curtain", true, true)
        report.privacy.protections = [protection]
        report.privacy.auditLost = 3
        report.process.cpuMilliseconds = 123_450
        report.process.startTimeMilliseconds = 1_790_000_000_000
        report.process.openDescriptors = 31
        report.process.maximumDescriptors = 1024
        report.process.virtualBytes = 300_000_000
        var hook = WebhookStatus()
        (hook.name, hook.url) = ("hook", "https://hooks.example.org")
        (hook.delivered, hook.failed, hook.dropped, hook.queued) = (41, 2, 3, 1)
        (hook.lastError, hook.lastErrorAgeMilliseconds) = ("the server answered\u{7}500", 12_000)
        report.webhooks = [hook]
        return report
    }
}

@Suite struct StatusReportTests {
    @Test func everyFieldSurvivesTheWire() throws {
        let report = StatusReport.full
        #expect(StatusReport(json: try JSONParser.parse(report.json.serialized())) == report)
        // And no field of the sample has its default, or the line above would prove nothing for it.
        func leaves(_ value: JSONValue) -> [JSONValue] {
            switch value {
            case .array(let items): items.flatMap(leaves)
            case .object(let members): members.flatMap { leaves($0.value) }
            default: [value]
            }
        }
        var sample = report
        sample.destinations.removeLast()
        for leaf in leaves(sample.json) { #expect(![.null, .integer(0), .string(""), .bool(false)].contains(leaf)) }
    }

    /// The names are an interface: dashboards and scripts are written against them.
    @Test func namesAreStable() {
        func names(_ value: JSONValue, _ prefix: String) -> [String] {
            guard case .object(let members) = value else {
                if case .array(let items) = value, let first = items.first, case .object = first {
                    return names(first, prefix + "[]")
                }
                return [prefix]
            }
            return members.flatMap { names($0.value, prefix.isEmpty ? $0.name : "\(prefix).\($0.name)") }
        }
        let expected = """
            version state state_ms air.state air.since_ms air.recording uptime_ms broadcasts
            client.name client.kind client.connected_ms
            video.width video.height video.frame_rate video.encoder video.effort video.configured_effort video.scaler
            video.source video.frames_received video.frames_encoded video.frames_repeated
            video.frames_unchanged video.frames_partial video.keyframes video.bytes_encoded
            video.target_bits_per_second video.frame_rate_divisor video.bits_per_second
            audio.sample_rate_hz audio.channels audio.app_blocks_received audio.microphone_blocks_received
            audio.samples_encoded
            audio.silence_samples audio.bytes_encoded audio.target_bits_per_second
            audio.levels[].source audio.levels[].peak_dbfs audio.levels[].rms_dbfs audio.levels[].silent_ms
            drops.superseded drops.too_late
            queue.ms queue.bytes queue.packets queue.capacity_ms queue.capacity_bytes
            destinations[].name destinations[].kind destinations[].url destinations[].state destinations[].state_ms
            destinations[].down_ms destinations[].bytes_sent
            destinations[].packets_sent destinations[].bytes_acknowledged destinations[].connects
            destinations[].failures.connect_timeout destinations[].next_attempt_ms
            destinations[].drops.disposable destinations[].lag_ms
            destinations[].backlog_ms destinations[].backlog_bytes destinations[].short_connections
            destinations[].last_error destinations[].last_error_age_ms
            destinations[].latency.path destinations[].latency.average_us destinations[].latency.p50_us
            destinations[].latency.p99_us destinations[].latency.maximum_us
            memory.resident_bytes memory.peak_resident_bytes memory.anonymous_bytes memory.plan_bytes memory.cap_bytes
            memory.plan.video_encoder memory.limit memory.limit_bytes memory.needed_bytes memory.given_up.half_log
            memory.bitrate_loss_percent memory.steps_down memory.steps_up
            timeline.jumps timeline.skew_us
            latency[].path latency[].average_us latency[].p50_us latency[].p99_us latency[].maximum_us
            privacy.curtain.up privacy.curtain.holders[].holder
            privacy.curtain.holders[].user privacy.curtain.holders[].reason
            privacy.curtain.holders[].held_ms
            privacy.regions[].holder privacy.regions[].user privacy.regions[].name privacy.regions[].unit
            privacy.regions[].x
            privacy.regions[].y privacy.regions[].width privacy.regions[].height
            privacy.protections[].name privacy.protections[].on privacy.protections[].held privacy.audit_lost
            process.cpu_ms process.start_time_ms process.open_fds process.max_fds process.virtual_bytes
            webhooks[].name webhooks[].url webhooks[].delivered webhooks[].failed webhooks[].dropped webhooks[].queued
            webhooks[].last_error webhooks[].last_error_age_ms
            """
        #expect(names(StatusReport.full.json, "") == expected.split(whereSeparator: \.isWhitespace).map(String.init))
    }

    /// A tool and a daemon of different versions understand each other.
    @Test func unknownAndMissingFieldsAreForgiven() throws {
        let json =
            #"{"state":"hovering","uptime_ms":5,"new":{"a":[1]},"video":{"width":"wide","height":720},"#
            + #""client":null,"drops":{"a":1,"b":"x"}}"#
        var expected = StatusReport()
        expected.uptimeMilliseconds = 5
        expected.video.height = 720
        expected.drops = [Counter("a", 1)]
        #expect(StatusReport(json: try JSONParser.parse(Array(json.utf8))) == expected)
        #expect(StatusReport(json: .null) == StatusReport())
    }

    @Test func peopleSeeItAligned() {
        let place = "rtmp://live.example.net/app/***"
        let expected = """
            state     impaired for 12 min 2 s, recording, 960 ms behind
            trouble   main: the network takes less than is encoded
            curtain   up, held by app:kiosk of user 1000 (will resign active) for 1.5 s
            hidden    1 region
            audit     3 lines lost
            daemon    upcastd 0.1.0, up 1 h 2 min, 3 broadcasts
            client    Screen "1" (display), connected for 12 min 3 s
            video     1280x720 at 30000/1001 frames/s, libx264 normal, 2481 kbit/s of 2500 kbit/s, 1 frame in 2
                      effort low instead of normal: the processor is overloaded
                      from 1920x1080 420v, orientation 6, scaled by libyuv
                      21690 frames received, 200 unchanged, 21688 encoded, of which 300 repeated, 362 keyframes
            audio     48000 Hz, 2 channels, 128 kbit/s
                      app 33893 blocks, microphone 1 block, silence 1.2 s
                      app silent for 12.0 s
            drops     superseded 2, too late 1
            queue     0.1 of 3.0 s, 39.0 KiB of 2.0 MiB queued
            timeline  jumps 1, skew -350 us
            latency   socket to encoder 9.1 ms (p50), 33.0 ms (p99), 44.0 ms (max)
            memory    31.4 of 47.6 MiB needed, 46.7 of 50.0 MiB planned, 43.8 MiB resident
                      limit: memory cgroup /sys/fs/cgroup/box, given up: half log
                      too little for subpixel motion search: the same picture needs 60 % more bitrate
            webhook   hook (https://hooks.example.org), 41 delivered, 2 failed, 3 dropped, 1 queued
                      last error, 12.0 s ago: the server answered?500

            DESTINATION  STATE      FOR         SENT       ACKNOWLEDGED  BEHIND  P50, P99      CONNECTS  WHERE
            main         congested  1 min 30 s  221.3 MiB  220.2 MiB     960 ms  9.3, 34.0 ms  2         \(place)
              not sent: disposable 12
              failures: connect timeout 1
              next attempt in 2.5 s
              4 connections in a row closed within a second
              last error, 12.0 s ago: the server closed?the connection
            recording    live       -           -          -             -       -             -         \
            file:/var/lib/upcast/a.flv

            """
        #expect(StatusText.render(.full) == expected)
    }

    /// Rows of zeros would hide the few things that an idle daemon has to say.
    @Test func anIdleDaemonSaysOnlyWhatItHas() {
        var report = StatusReport.full
        report.state = .idle
        (report.air, report.audio.levels, report.webhooks) = (AirStatus(), [], [])
        report.air.sinceMilliseconds = 723_000
        report.client = nil
        let idle = StatusReport()
        report.privacy = idle.privacy
        (report.video.source, report.video.framesReceived, report.video.framesEncoded) = ("", 0, 0)
        (report.video.framesRepeated, report.video.keyframes, report.video.bitsPerSecond) = (0, 0, 0)
        report.video.framesUnchanged = 0
        report.video.frameRateDivisor = 1
        report.video.effort = "normal"
        report.memory.bitrateLossPercent = 0
        (report.audio.appBlocksReceived, report.audio.microphoneBlocksReceived, report.audio.silenceSamples) = (0, 0, 0)
        (report.drops, report.timeline, report.latency) = (idle.drops, idle.timeline, idle.latency)
        (report.queue.milliseconds, report.queue.bytes, report.queue.packets) = (0, 0, 0)
        var untried = DestinationStatus()
        (untried.name, untried.url) = ("main", "rtmp://live.example.net/app/***")
        report.destinations = [untried]
        let expected = """
            state     idle for 12 min 3 s
            daemon    upcastd 0.1.0, up 1 h 2 min, 3 broadcasts
            client    none
            video     1280x720 at 30000/1001 frames/s, libx264 normal, 2500 kbit/s
            audio     48000 Hz, 2 channels, 128 kbit/s
            memory    31.4 of 47.6 MiB needed, 46.7 of 50.0 MiB planned, 43.8 MiB resident
                      limit: memory cgroup /sys/fs/cgroup/box, given up: half log

            DESTINATION  STATE  WHERE
            main         idle   rtmp://live.example.net/app/***

            """
        #expect(StatusText.render(report) == expected)
        #expect(StatusText.render(StatusReport()).hasSuffix("\n\nno destinations\n"))
    }

    /// A live broadcast in order says so, without naming every cause that did not happen.
    @Test func countersOfZeroAreNotNamed() {
        var report = StatusReport.full
        report.drops = [Counter("video_superseded", 0), Counter("video_abandoned", 0)]
        report.timeline = [Counter("jumps_forward", 0), Counter("audio_latency_ms", 60)]
        report.destinations[0].drops = [Counter("video_late", 0)]
        (report.queue.milliseconds, report.queue.bytes) = (0, 0)
        let text = StatusText.render(report)
        #expect(text.contains("drops     none\n") && text.contains("timeline  audio latency 60 ms\n"), "\(text)")
        #expect(text.contains("queue     empty\n") && !text.contains("drops:"), "\(text)")
        report.drops = [Counter("video_superseded", 2), Counter("video_abandoned", 0)]
        #expect(StatusText.render(report).contains("drops     video superseded 2\n"))
    }

    /// Promise: the first lines say whether viewers get it, since when, how late, and why not.
    @Test func theFirstLinesSayWhatIsWrong() {
        func head(_ change: (inout StatusReport) -> Void) -> [String] {
            var report = StatusReport.full
            report.air = AirStatus()
            (report.air.state, report.air.sinceMilliseconds) = (.offAir, 90_000)
            let untried = DestinationStatus()
            report.destinations = ["a", "b", "c", "d", "e"].map { name in
                var destination = untried
                (destination.name, destination.state) = (name, .live)
                return destination
            }
            report.privacy = PrivacyStatus()
            change(&report)
            return StatusText.render(report).split(separator: "\n").map(String.init).prefix { !$0.hasPrefix("daemon") }
        }
        let error = #""a" (rtmp://h/app): cannot connect: Connection refused; trying again in 2.000 s"#
        #expect(
            head { report in
                report.destinations = Array(report.destinations.prefix(2))
                (report.destinations[0].state, report.destinations[0].lastError) = (.reconnecting, error)
                (report.destinations[1].state, report.destinations[1].kind) = (.live, .file)
                report.destinations[1].lagMilliseconds = 5000
                report.air.isRecording = true
            } == ["state     off air for 1 min 30 s, recording", "trouble   a: cannot connect: Connection refused"])
        #expect(
            head { report in
                report.air.state = .onAir
                (report.destinations[0].lagMilliseconds, report.destinations[1].lagMilliseconds) = (8635, 40)
                // A first connection beside others is no trouble.
                report.destinations[2].state = .connecting
            } == ["state     on air for 1 min 30 s, 8.6 s behind"])
        #expect(
            head { report in
                for index in report.destinations.indices { report.destinations[index].state = .connecting }
                report.destinations[1].state = .failed
            } == ["state     off air for 1 min 30 s", "trouble   a: connecting; b: failed; c: connecting; and 2 more"])
        // Nothing is expected of destinations without a client.
        #expect(
            head { report in
                (report.client, report.air.state, report.destinations[0].state) = (nil, .idle, .failed)
                report.destinations.removeLast(4)
            } == ["state     idle for 1 min 30 s"])
    }

    /// Promise: colours add nothing but colours, and only what an operator must see has one.
    @Test func theStateHasAColour() {
        var report = StatusReport.full
        report.air.state = .offAir
        report.destinations[0].state = .reconnecting
        report.destinations[0].lastError =
            #""main" (rtmp://live.example.net/app): cannot connect: 192.0.2.1 port 1935: Connection refused"#
        let text = StatusText.wrapped(StatusText.render(report), to: 60)
        let coloured = StatusText.coloured(text, ShownState(report).colour)
        #expect(coloured.hasPrefix("state     \u{1B}[31moff air"))
        let lines = coloured.split(separator: "\n").filter { $0.contains("\u{1B}") }
        #expect(lines.map { String($0.prefix { $0 != " " }) } == ["state", "trouble", "", "curtain", "", "audit"])
        let plain = ["31", "33", "0"].reduce(coloured) { $0.replacing("\u{1B}[\($1)m", with: "") }
        #expect(plain == text)
    }

    @Test(arguments: [
        (0, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (59_999, "59.9 s"), (60_000, "1 min 0 s"),
        (3_599_999, "59 min 59 s"),
        (3_600_000, "1 h 0 min"), (86_400_000, "1 d 0 h"), (190_000_000, "2 d 4 h")
    ])
    func times(milliseconds: Int, expected: String) { #expect(Quantity.time(milliseconds) == expected) }

    @Test(arguments: [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (52_428_800, "50.0 MiB"), (3 << 30, "3.0 GiB")])
    func byteCounts(bytes: Int, expected: String) { #expect(Quantity.bytes(bytes) == expected) }

    /// Bug: numbers that no daemon sends ended upcastctl.
    @Test func numbersWithoutEnd() {
        #expect(Quantity.rate(1_499) == "1 kbit/s" && Quantity.rate(1_500) == "2 kbit/s")
        #expect(Quantity.rate(.max) == "9223372036854776 kbit/s")
        #expect(Quantity.milliseconds(of: 96_000, rate: 48_000) == 2000)
        #expect(Quantity.milliseconds(of: .max, rate: 48_000) == .max / 48_000)
    }
}
