import FaultProxy
import Foundation
import Glibc
import IngestProtocol
import LinuxSystem
import MediaCore
import SeededRandom
import TestSupport
import Testing

/// Promise: whenever the curtain is raised, what the answer says had left is all that is ever seen or heard of what was
/// before, at every destination.
///
/// `scripts/races` runs a thousand of these and prints how long the answers took; here it is a few.
@Suite struct CurtainRaceTests {
    enum Uplink: String, CaseIterable, Sendable { case stalled, delayed, reordered }

    private static let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)
    private static let tone = Tone(frequency: 440, amplitude: 0.25)
    /// The marker's colour, smooth and as noise, so that there is something to send.
    private static let pictures: [RawSample] = [Float(0), 0.5].map { noise in
        var random = SplitMix64(drawnFor: "noise")
        var image = RGBImage(width: 320, height: 180, filling: RGB(1, 0, 1))
        for row in 0..<180 where noise > 0 {
            for column in 0..<320 {
                let value = Float.random(in: 0...noise, using: &random)
                image[column, row] = RGB(1 - value, 0, 1 - value)
            }
        }
        return RawSample(image, format: .i420)
    }

    private static var races: Int {
        let wanted = ProcessInfo.processInfo.environment["UPCAST_RACES"].flatMap { Int($0) }
        return wanted.map { max(1, $0 / Uplink.allCases.count) } ?? 4
    }

    /// What came of a broadcast.
    private struct Tally {
        var answers: [MediaTime] = []
        var colored = 0
        var taken = 0
        var cut = 0
        /// Frames that the answer did not account for.
        var leaks = 0
    }

    @Test(.timeLimit(.minutes(TimeLimitTrait.turn + races / 5)), arguments: Uplink.allCases)
    func nothingIsSeenThatHadNotLeft(uplink: Uplink) async throws {
        try await blocking {
            let folder = try TemporaryDirectory("races")
            var settings = DaemonSettings(width: 320, height: 180)
            settings.video["frame_rate"] = "60"
            if uplink == .reordered {
                settings.video["tune"] = "\"\""
                settings.video["b_frames"] = "2"
            }
            // Broadcasts of half a second: in strict order the first picture would wait for the first sound that long.
            settings.buffer = [
                "delay_ms": uplink == .delayed ? "400" : "0", "max_bytes": "6MiB", "interleave": "low_latency",
            ]
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            settings.destinationFields = ["reconnect_first_ms": "50"]
            let stage = try Stage(settings, behindProxy: true)
            var tally = Tally()
            for race in 0..<Self.races { try run(race, uplink, stage, folder, &tally) }
            let sorted = tally.answers.sorted()
            print(
                "\(uplink.rawValue): \(Self.races) broadcasts, answers \(sorted[sorted.count / 2]) (p50),"
                    + " \(sorted[sorted.count * 99 / 100]) (p99), \(sorted.last ?? .zero) at most;"
                    + " \(tally.colored) frames before them, \(tally.leaks) after,"
                    + " \(tally.taken) packets taken back, \(tally.cut) connections given up")
            #expect(tally.leaks == 0)
            #expect(tally.colored > 5)
            #expect(tally.taken > 0 || uplink != .delayed)
            try stage.end()
        }
    }

    private func run(
        _ race: Int, _ uplink: Uplink, _ stage: Stage, _ folder: TemporaryDirectory, _ tally: inout Tally
    ) throws {
        let clock = MonotonicClock()
        var random = SplitMix64(drawnFor: "\(uplink) \(race)")
        let client = try CaptureClient(socket: stage.daemon.ingestSocket)
        try client.start()
        let playback = Playback(client)
        func play(_ milliseconds: Int64, also: (at: MediaTime, action: Playback.Action)? = nil) throws {
            var timetable = also.map { [$0] } ?? []
            for (index, picture) in Self.pictures.enumerated() {
                timetable.show(
                    picture, from: .milliseconds(Int64(index) * 17), to: .milliseconds(milliseconds),
                    every: .milliseconds(34))
            }
            timetable.sound(.app, Self.tone, format: Self.format, from: .zero, to: .milliseconds(milliseconds))
            try playback.play(timetable)
        }
        // Files begin at zero with their first picture; the broadcast, too, where no other takes that one's place.
        try client.send(Self.pictures[0], pts: playback.now)
        try waitFor("the first picture to be encoded") { try stage.daemon.encodedPictures() > 0 }
        // With a delay, so long that some of it has left.
        // So is what the encoder holds back for B-frames.
        let before = Int64.random(in: uplink == .stalled ? 250...700 : 550...1000, using: &random)
        let proxy = try #require(stage.proxy)
        let stall = MediaTime.milliseconds(.random(in: 150...before, using: &random))
        try play(before, also: uplink == .stalled ? (stall, { _, _ in try proxy.apply(.stall) }) : nil)

        let asked = clock.now()
        let answer = try UnixHTTPClient.ask(
            "POST", "/curtain/up", body: #"{"app": "race"}"#, socket: stage.daemon.controlSocket)
        tally.answers.append(clock.now() - asked)
        try play(.random(in: 60...200, using: &random))
        if uplink == .stalled { try proxy.apply(.resume) }
        try client.finish()
        #expect(client.errors.map(\.text) == [])
        let down = try UnixHTTPClient.ask(
            "POST", "/curtain/down", body: #"{"app": "race"}"#, socket: stage.daemon.controlSocket)
        #expect(down.status == 200)

        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any], "\(answer)")
        tally.taken += json["taken_back_video_packets"] as? Int ?? 0
        let last = json["last_pts_ms"] as? [String: Any] ?? [:]
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).map { folder.file($0) }
        try look(at: files, last["file"] as? Int, "file of \(race)", &tally)
        try waitFor("the server's files to be closed") { stage.server.hasClosedAll }
        let recordings = stage.server.recordings
        tally.cut += recordings.count > 1 ? 1 : 0
        try look(at: recordings, last["main"] as? Int, "server's of \(race)", &tally)
        for path in files + recordings { try FileManager.default.removeItem(atPath: path) }
    }

    /// The first recording may hold what had left, the others nothing.
    private func look(at recordings: [String], _ last: Int?, _ what: String, _ tally: inout Tally) throws {
        for (index, path) in recordings.enumerated() {
            // Of the first alone the times are the broadcast's.
            let end = index == 0 ? last.map { Double($0) / 1000 + 0.0015 } ?? -1 : -1
            // A connection on which nothing came leaves an empty file.
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
            guard size > 256, try MediaProbe.packets(path).contains(where: { $0.track == "video" }) else { continue }
            try DecodedVideo.forEachFrame(of: path) { frame in
                guard frame.image.u.contains(where: { $0 > 150 }) else { return }
                tally.colored += 1
                guard frame.pts > end else { return }
                tally.leaks += 1
                Issue.record("\(what): a picture of \(frame.pts) s, and \(end) s had left")
            }
            if index == 0, let last, what.hasPrefix("file") {
                // It is not only a bound: a packet of that time is there.
                let near = try MediaProbe.packets(path).filter { abs($0.pts - Double(last) / 1000) < 0.1 }
                // Where another picture took the first one's place, the file began some milliseconds off.
                let isThere = near.contains { abs($0.pts - Double(last) / 1000) < 0.005 }
                #expect(isThere, "\(what): none of \(last) ms, but \(near.map { "\($0.track) \($0.pts)" })")
            }
            guard try MediaProbe.streams(path).contains(where: { $0.codec_type == "audio" }) else { continue }
            let audio = try DecodedAudio(path)
            // The last packet fades with its window, and the next one with it.
            for time in stride(from: max(audio.start, end + 0.05), to: audio.start + audio.duration - 0.05, by: 0.05) {
                let level = ToneAnalysis.level(
                    of: 440, in: audio.samples(channel: 0, from: time, to: time + 0.05),
                    sampleRate: audio.sampleRate)
                guard level > -60 else { continue }
                tally.leaks += 1
                Issue.record("\(what): \(level) dB at \(time) s, and \(end) s had left")
            }
        }
    }
}
