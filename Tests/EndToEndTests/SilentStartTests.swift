import IngestProtocol
import MediaCore
import TestSupport
import Testing

@Suite struct SilentStartTests {
    /// Bug: a client that started and sent nothing was called live while its server got nothing, and would have given
    /// up.
    @Test(.inItsTurn) func aClientThatSendsNothingIsBroadcastAsBackgroundAndSilence() async throws {
        try await blocking {
            let stage = try Stage()
            let client = try CaptureClient(socket: stage.daemon.ingestSocket)
            try client.start()
            try waitFor("background and silence", evidence: { (try? stage.daemon.statusText()) ?? "" }) {
                stage.server.recordedBytes > 1_000
            }
            let playback = Playback(client)
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            timetable.show(NumberedPictures.landscape(2), from: .zero, to: .seconds(1))
            try playback.play(timetable)
            #expect(try client.finish().reason == .finished)
            let recording = try stage.server.finishedRecording()
            try stage.checkRecording(recording)
            #expect(NumberedPictures.number(in: try DecodedVideo.lastFrame(of: recording).image) == 2)
            let packets = try MediaProbe.packets(recording)
            let video = packets.filter { $0.track == "video" }.map(\.dts)
            #expect(zip(video, video.dropFirst()).allSatisfy { $1 - $0 < 1 }, "\(video)")
            try stage.end()
        }
    }
}
