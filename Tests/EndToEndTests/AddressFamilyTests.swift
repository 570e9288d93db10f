import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: a server's address may be of either family.
@Suite struct AddressFamilyTests {
    @Test(.inItsTurn, .enabled(if: Loopback.hasIPv6, "this machine has no ::1")) func overIPv6() async throws {
        try await blocking {
            let server = try NginxRTMP(host: "[::1]")
            #expect(server.url.hasPrefix("rtmp://[::1]:"))
            var settings = DaemonSettings()
            settings.publish(to: server.url)
            let daemon = try Daemon(settings)
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            let playback = Playback(client)
            try playback.bringLive(NumberedPictures.landscape(6))
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            timetable.show(NumberedPictures.landscape(6), from: .zero, to: .seconds(1))
            try playback.play(timetable)
            #expect(try daemon.statusText().contains("rtmp://[::1]:\(server.port)/live"))
            #expect(try client.finish().reason == .finished)
            let recording = try server.finishedRecording()
            #expect(try MediaProbe.decodingErrors(recording) == "", "\(server.log.suffix(600))")
            #expect(NumberedPictures.number(in: try DecodedVideo.lastFrame(of: recording).image) == 6)
            #expect(try daemon.terminate() == .code(0), "\(daemon.process.errorTail)")
        }
    }

    /// Nobody listens there: the sentence names the address as it was written.
    @Test(.inItsTurn, .enabled(if: Loopback.hasIPv6, "this machine has no ::1")) func refusedOverIPv6()
        async throws
    {
        try await blocking {
            let port = try Loopback.freePort()
            var settings = DaemonSettings()
            settings.publish(to: "rtmp://[::1]:\(port)/live")
            settings.destinations[0].fields["reconnect"] = "false"
            let daemon = try Daemon(settings)
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            try client.waitForEnd()
            let text = client.errors.last?.text ?? ""
            #expect(text.contains("(rtmp://[::1]:\(port)/live") && text.contains("refused"), "\(text)")
            #expect(try daemon.terminate() == .code(3), "\(daemon.process.errorTail)")
        }
    }
}
