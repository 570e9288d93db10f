import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// A client that sends the same picture again and again costs no encoding, and its viewers miss nothing.
@Suite struct UnchangedTests {
    @Test(.inItsTurn, arguments: [true, false]) func aScreenThatStandsStillIsNotEncoded(skips: Bool) async throws {
        try await blocking {
            var settings = DaemonSettings()
            settings.video["skip_unchanged"] = "\(skips)"
            let stage = try Stage(settings)
            let client = try CaptureClient(socket: stage.daemon.ingestSocket)
            try client.start()
            let playback = Playback(client)
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            timetable.show(NumberedPictures.landscape(2), from: .zero, to: .seconds(4))
            timetable.show(NumberedPictures.landscape(3), from: .seconds(4), to: .milliseconds(4_300))
            try playback.play(timetable)
            let video = try #require(stage.daemon.status()["video"] as? [String: Any])
            let unchanged = video["frames_unchanged"] as? Int ?? 0
            // Those of the first half second are encoded, to make the picture as good as it gets.
            let sent = client.samplesSent
            let expected = skips ? sent / 3..<sent * 5 / 6 : 0..<1
            #expect(expected.contains(unchanged), "\(unchanged) of \(sent)")
            let goodbye = try client.finish()
            #expect(goodbye.framesTaken + goodbye.framesDropped == UInt64(sent), "\(goodbye)")
            let recording = try stage.server.finishedRecording()
            try stage.checkRecording(recording)
            #expect(NumberedPictures.number(in: try DecodedVideo.lastFrame(of: recording).image) == 3)
            let times = try MediaProbe.packets(recording).filter { $0.track == "video" }.map(\.dts)
            let gap = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 99
            // Three times `idle_repeat_ms`: a busy machine delays the daemon, too.
            #expect(gap < 0.75, "\(times)")
            try stage.end()
        }
    }
}
