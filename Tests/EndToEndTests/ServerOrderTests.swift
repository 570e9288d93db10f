import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// Promise: servers that upcastd has not met get what ffmpeg and OBS would send them: a first picture that is
/// unambiguous, and audio and video in the order of their times.
@Suite struct ServerOrderTests {
    private static let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)

    /// Access units of a recording, without FLV's five bytes.
    private func accessUnits(_ recording: String) throws -> [[UInt8]] {
        try FLVRecording(recording).tags.filter { $0.type == 9 && !$0.isVideoSequenceHeader }.map {
            Array($0.body.dropFirst(5))
        }
    }

    /// Bug: black 1920x1080 keyframes of one encoder thread have 427 bytes. SRS ended each connection that began with
    /// one, for as long as the curtain was up.
    @Test(.inItsTurn) func aConnectionThatBeginsUnderTheCurtainIsTaken() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("curtain")
            var settings = DaemonSettings(width: 1920, height: 1080, bitrateKilobits: 2_500)
            settings.memory["cap_bytes"] = "256MiB"
            settings.destinations = [(name: "file", fields: ["url": "file:" + folder.file("out.flv")])]
            let server = try NginxRTMP()
            let daemon = try Daemon(settings)
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            func post(_ path: String, _ body: String = "") throws {
                let answer = try UnixHTTPClient.ask("POST", path, body: body, socket: daemon.controlSocket)
                #expect(answer.status == 200, "\(answer)")
            }
            try post("/curtain/up")
            let playback = Playback(client)
            func packets(_ name: String) throws -> Int {
                let all = try daemon.status()["destinations"] as? [[String: Any]]
                return all?.first { $0["name"] as? String == name }?["packets_sent"] as? Int ?? 0
            }
            func show(until what: String, _ condition: () throws -> Bool) throws {
                try waitFor(what, evidence: { daemon.log }) {
                    try client.send(NumberedPictures.landscape(1), pts: playback.now)
                    return try condition()
                }
            }
            // The encoder's first frame has its SEI in front, which would hide what is tested.
            try show(until: "the curtain to be encoded") { try daemon.encodedPictures() > 20 }
            try post("/destinations", "{name: late, url: \"\(server.url)/\(DaemonSettings.streamKey)\"}")
            try show(until: "the server to take it") { try packets("late") > 60 }
            try client.finish()
            let units = try accessUnits(server.finishedRecording())
            let first = try #require(units.first)
            let delimiter: [UInt8] = [0, 0, 0, 2, 9, 0x10]
            let slice = first.starts(with: delimiter) ? Array(first.dropFirst(delimiter.count)) : first
            let length = slice[0..<4].reduce(0) { $0 << 8 | Int($1) }
            #expect((256..<512).contains(length), "a slice of \(length) bytes tests nothing")
            var srs = SRSFormat()
            do { for unit in units { try srs.take(unit) } } catch { Issue.record("SRS refuses it: \(error)") }
            #expect(srs.format == .lengthPrefixed)
            #expect(try daemon.terminate() == .code(0), "\(daemon.process.errorTail)")
            try server.stop()
        }
    }

    /// Tags that are older than one before them, and all.
    private func tagsOutOfOrder(
        _ settings: DaemonSettings = DaemonSettings()
    ) throws -> (late: Int, all: Int, worst: Int) {
        let stage = try Stage(settings)
        let playback = try stage.live(showing: NumberedPictures.landscape(1))
        var timetable: [(at: MediaTime, action: Playback.Action)] = []
        timetable.show(NumberedPictures.landscape(2), from: .zero, to: .seconds(4), every: .milliseconds(33))
        timetable.sound(
            .app, Tone(frequency: 440, amplitude: 0.25), format: Self.format, from: .zero, to: .seconds(4))
        try playback.play(timetable)
        try playback.client.finish()
        let recording = try stage.server.finishedRecording()
        try stage.checkRecording(recording)
        let order = try order(of: recording)
        try stage.end()
        return order
    }

    private func order(of recording: String) throws -> (late: Int, all: Int, worst: Int) {
        let tags = try FLVRecording(recording).tags.filter {
            $0.type != 18 && !$0.isVideoSequenceHeader && !$0.isAudioSequenceHeader
        }
        var (newest, late, worst) = (0, 0, 0)
        for tag in tags {
            if tag.timestamp < newest { late += 1 }
            worst = max(worst, newest - tag.timestamp)
            newest = max(newest, tag.timestamp)
        }
        return (late, tags.count, worst)
    }

    /// A machine that is too busy to encode a picture within 0.2 s may be late with some.
    @Test(.inItsTurn) func audioAndVideoLeaveInTheOrderOfTheirTimes() async throws {
        try await blocking {
            let (late, all, _) = try tagsOutOfOrder()
            print("strict: \(late) of \(all) tags are older than one before")
            #expect(all > 200 && late * 20 < all, "\(late) of \(all)")
        }
    }

    @Test(.inItsTurn) func withLowLatencySoundMayFollow() async throws {
        try await blocking {
            var settings = DaemonSettings()
            settings.buffer["interleave"] = "low_latency"
            let (late, all, _) = try tagsOutOfOrder(settings)
            print("low_latency: \(late) of \(all) tags are older than one before")
            #expect(all > 200 && late > 0, "\(late) of \(all)")
        }
    }

    private static var lookingAhead: DaemonSettings {
        var settings = DaemonSettings()
        settings.video["tune"] = "\"\""
        settings.memory["cap_bytes"] = "512MiB"
        return settings
    }

    /// Bug: sound was ahead of an encoder that holds frames back, at the start by 127 ms.
    @Test(.inItsTurn) func soundWaitsForAnEncoderWithBFrames() async throws {
        try await blocking {
            var settings = Self.lookingAhead
            settings.video["preset"] = "veryfast"
            settings.video["b_frames"] = "4"
            let (late, all, worst) = try tagsOutOfOrder(settings)
            print("B-frames: \(late) of \(all) tags are older than one before, by \(worst) ms at most")
            #expect(all > 200 && worst < 50, "\(late) of \(all), \(worst) ms")
        }
    }

    /// Bug: the background of a client that sends only sound was half a second late for ever. The sound waited for it,
    /// and the bitrate fell on a link that took everything.
    @Test(.inItsTurn) func theBackgroundOfSoundAloneGoesWithTheSound() async throws {
        try await blocking {
            let stage = try Stage()
            let client = try CaptureClient(socket: stage.daemon.ingestSocket)
            try client.start(tracks: [.audioApp])
            let playback = Playback(client)
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            timetable.sound(
                .app, Tone(frequency: 440, amplitude: 0.25), format: Self.format, from: .zero, to: .seconds(6))
            try playback.play(timetable)
            #expect(!stage.daemon.log.contains("video bitrate changed"), "\(stage.daemon.log)")
            try client.finish()
            let recording = try stage.server.finishedRecording()
            try stage.checkRecording(recording)
            let (late, all, _) = try order(of: recording)
            print("sound alone: \(late) of \(all) tags are older than one before")
            #expect(all > 200 && late * 50 < all, "\(late) of \(all)")
            let pictures = try FLVRecording(recording).tags.filter { $0.type == 9 && !$0.isVideoSequenceHeader }
            #expect(pictures.count > 10 && pictures[1].timestamp - pictures[0].timestamp >= 500)
            try stage.end()
        }
    }

    /// Bug: the curtain is encoded ten times a second. An encoder that looks 40 frames ahead gave it out after 4 s, and
    /// what was that late was left out: the last private picture stood still for the viewers.
    @Test(.inItsTurn) func aCurtainReachesServersBehindAnEncoderThatLooksAhead() async throws {
        try await blocking {
            var settings = Self.lookingAhead
            settings.video["preset"] = "medium"
            let stage = try Stage(settings)
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            timetable.show(NumberedPictures.landscape(2), from: .zero, to: .seconds(3), every: .milliseconds(33))
            try playback.play(timetable)
            let answer = try UnixHTTPClient.ask(
                "POST", "/curtain/up", body: "", socket: stage.daemon.controlSocket)
            #expect(answer.status == 200)
            let before = try stage.daemon.encodedPictures()
            try waitFor("the curtain to be encoded") { try stage.daemon.encodedPictures() >= before + 90 }
            let drops = try stage.destination()["drops"] as? [String: Any]
            #expect(drops?["video_late"] as? Int == 0, "\(drops ?? [:])")
            #expect(drops?["video_undecodable"] as? Int == 0, "\(drops ?? [:])")
            try playback.client.finish()
            for recording in try stage.end(afterCurtains: 1) { try stage.checkRecording(recording) }
        }
    }
}
