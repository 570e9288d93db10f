import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: whatever the client's clock does, and whichever track begins, viewers hear and see all that was sent.
@Suite struct TimeTests {
    private let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)
    private let tone = Tone(frequency: 440, amplitude: 0.25)

    /// Plays four seconds into a file, the PTS changed by `clock`, and returns which pieces of 50 ms lack the tone.
    ///
    /// - Parameter burst: sound of before this is sent at once.
    private func play(
        _ settings: DaemonSettings, pictures: Bool, burst: MediaTime = .zero,
        clock: @escaping @Sendable (MediaTime) -> MediaTime
    ) throws -> (missing: [Double], jumps: Int, outOfOrder: Int, lateness: MediaTime, sound: String) {
        let folder = try TemporaryDirectory("flv")
        var settings = settings
        settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
        // Before the client starts: a broadcast whose client sends nothing for a second begins with silence.
        var timetable: [(at: MediaTime, action: Playback.Action)] = []
        for block in 0..<Int64(200) {
            let at = MediaTime.milliseconds(block * 20)
            let samples = tone.samples(from: Int(block) * 960, count: 960, rate: 48_000)
            let sound = RawSound(samples, format: format)
            let sent = at < burst ? .zero : at + .milliseconds(20)
            timetable.append((sent, { client, _ in try client.send(.app, sound, pts: clock(at)) }))
            guard pictures, block % 5 == 0 else { continue }
            let picture = NumberedPictures.landscape(1)
            timetable.append((at, { client, _ in try client.send(picture, pts: clock(at)) }))
        }
        let daemon = try Daemon(settings)
        let client = try CaptureClient(socket: daemon.ingestSocket)
        try client.start(tracks: pictures ? [.video, .audioApp] : [.audioApp])
        let playback = Playback(client)
        try playback.play(timetable)
        let status = try daemon.status()
        func count(_ section: String, _ name: String) -> Int {
            (status[section] as? [String: Any])?[name] as? Int ?? -1
        }
        try client.finish()
        let path = folder.file("out.flv")
        #expect(try MediaProbe.decodingErrors(path) == "")
        let audio = try DecodedAudio(path)
        let missing = stride(from: 0.05, to: 3.95, by: 0.05).filter { time in
            let piece = audio.samples(channel: 0, from: time, to: time + 0.05)
            return abs(ToneAnalysis.level(of: 440, in: piece, sampleRate: 48_000) - tone.decibels) > 1.5
        }
        #expect(try daemon.terminate() == .code(0), "\(daemon.process.errorTail)")
        return (
            missing, count("timeline", "jumps_backward"), count("drops", "video_not_after_previous"),
            playback.lateness, "\(status["audio"] ?? ""), \(status["drops"] ?? "")"
        )
    }

    /// Destinations begin with a picture; without one the daemon makes its own, and the sound from before waits for it.
    @Test(.inItsTurn) func soundAloneIsWholeFromItsFirstSample() async throws {
        try await blocking {
            let result = try play(.patient, pictures: false, burst: .milliseconds(600)) { $0 }
            #expect(result.missing.filter { $0 < 0.5 } == [], "\(result)")
        }
    }

    @Test(.inItsTurn) func aClockThatRestartsEachSecondLosesNothing() async throws {
        try await blocking {
            let result = try play(.patient, pictures: true) {
                MediaTime(nanoseconds: $0.nanoseconds % 1_000_000_000)
            }
            // A client that a busy machine holds up at the very moment of a restart leaves a gap. With a quarter of the
            // sound missing, nothing is shown.
            let gaps = result.jumps * Int((result.lateness.secondsAsDouble / 0.05).rounded(.up))
            #expect(result.missing.count < min(20, 3 + gaps), "\(result)")
            #expect(result.jumps >= 3)
            #expect(result.outOfOrder == 0)
        }
    }
}
