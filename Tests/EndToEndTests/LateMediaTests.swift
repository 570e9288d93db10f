import Foundation
import Glibc
import IngestProtocol
import LinuxSystem
import MediaCore
import SeededRandom
import TestSupport
import Testing

/// Promise: once the curtain is answered, or nothing is captured any more, no byte from before reaches a server,
/// however its connection ended, and however late it reads again.
@Suite struct LateMediaTests {
    enum Ending: String, CaseIterable, Sendable {
        case finished, vanished, removed, reloadedAway, changed, redirected, terminated, killed
    }

    private static let plain = RawSample(
        RGBImage(width: 320, height: 180, filling: RGB(0.5, 0.5, 0.5)), format: .i420)
    /// Some kilobytes when it is encoded.
    private static let noise: RawSample = {
        var random = SplitMix64(drawnFor: "noise")
        var image = RGBImage(width: 320, height: 180, filling: RGB(1, 0, 1))
        for row in 0..<180 {
            for column in 0..<320 {
                let value = Float.random(in: 0...0.3, using: &random)
                image[column, row] = RGB(1 - value, 0, 1 - value)
            }
        }
        return RawSample(image, format: .i420)
    }()

    private func settings(_ server: StallingServer, _ folder: TemporaryDirectory) -> DaemonSettings {
        var settings = DaemonSettings(width: 320, height: 180)
        settings.video["keyframe_interval_ms"] = "1000"
        settings.stop["drain_ms"] = "500"
        // The key is in the URL: a reload without the destination would refuse a variable that no destination names.
        settings.destinations = [
            (name: "main", fields: ["url": "rtmp://127.0.0.1:\(server.port)/live/\(DaemonSettings.streamKey)"])
        ]
        // Where one is removed, another is left.
        settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
        return settings
    }

    @Test(.inItsTurn, arguments: Ending.allCases) func nothingArrivesLate(after ending: Ending) async throws {
        try await blocking {
            // Made before the server stalls: that takes a while, and a send timeout would end the connection.
            let (plain, noise) = (Self.plain, Self.noise)
            let (server, folder) = (try StallingServer(), try TemporaryDirectory("late"))
            var settings = settings(server, folder)
            let daemon = try Daemon(settings)
            var client: CaptureClient? = try CaptureClient(socket: daemon.ingestSocket)
            try client?.start()
            let playback = Playback(try #require(client))
            try playback.bringLive(plain)
            try waitFor("media to arrive") { server.connections.first.map { $0.received > 0 } ?? false }
            server.stall()
            func show(_ sample: RawSample) throws {
                try playback.client.send(sample, pts: playback.now)
                pause(until: MonotonicClock().now() + .milliseconds(33))
            }
            try waitFor("the daemon's kernel to have something to send", evidence: { daemon.process.errorTail }) {
                try show(noise)
                // A read that was in progress may take what came first.
                return try TCPSocketEntry.sockets(to: server.port).contains { $0.unacknowledged > 1000 }
                    && server.connections.first.map { $0.unread > 0 } ?? false
            }

            // Until the daemon has nothing to do with that connection any more.
            func isLeft() throws -> Bool { try !TCPSocketEntry.sockets(to: server.port).contains(where: \.isOpen) }
            switch ending {
            case .finished:
                try playback.client.send { FinishedMessage(reason: .sourceEnded).encode(sequence: $0, into: &$1) }
            case .vanished:
                playback.client.closeSending()
                client = nil
            case .removed:
                let answer = try UnixHTTPClient.ask(
                    "DELETE", "/destinations?name=main", body: "", socket: daemon.controlSocket)
                #expect(answer.status == 200, "\(answer)")
                try waitFor("it to be gone", isLeft)
            case .reloadedAway:
                settings.destinations.removeFirst()
                try daemon.rewrite(settings)
                daemon.process.signal(SIGHUP)
                try waitFor("it to be gone", isLeft)
                // And not because the server takes nothing.
                try daemon.waitForLog("destination main removed")
            case .changed:
                settings.destinations[0].fields["chunk_size"] = "4096"
                try daemon.rewrite(settings)
                daemon.process.signal(SIGHUP)
                try waitFor("another connection") { server.connections.count == 2 }
            case .redirected:
                server.requestReconnect(0)
                try waitFor("another connection", within: 30) {
                    // Little, so that there is room for the keyframe that it goes on with.
                    try show(plain)
                    return server.connections.count == 2
                }
            case .terminated: #expect(try daemon.terminate() == .code(3))
            case .killed: #expect(try daemon.process.stop(SIGKILL) == .signal(Int(SIGKILL)))
            }
            if daemon.process.isRunning {
                if [.finished, .vanished].contains(ending) {
                    try waitFor("nothing to be captured") {
                        let answer = try UnixHTTPClient.get("/state", socket: daemon.controlSocket)
                        return answer.body.contains(#""captured":false"#)
                    }
                }
                let answer = try UnixHTTPClient.ask(
                    "POST", "/curtain/up", body: #"{"app": "late"}"#, socket: daemon.controlSocket)
                #expect(answer.status == 200, "\(answer)")
            }

            let before = try #require(server.connections.first)
            #expect(before.unread > 0)
            server.resume()
            let after = try waitFor("the connection's end") {
                server.connections.first.flatMap { $0.end == nil ? nil : $0 }
            }
            let late = after.received - before.received - before.unread
            #expect(late == 0, "\(late) bytes came late")
            #expect(after.end == .reset)
        }
    }
}
