import Foundation
import Glibc
import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// Promise: whoever operates the daemon can look and command while it broadcasts, and nobody who does not behave keeps
/// him, or the broadcast, from it.
@Suite struct ControlTests {
    private func post(_ stage: Stage, _ path: String, _ body: String = "") throws -> Int {
        try UnixHTTPClient.ask("POST", path, body: body, socket: stage.daemon.controlSocket).status
    }

    private func metric(_ name: String, _ stage: Stage) throws -> Double {
        let text = try UnixHTTPClient.get("/metrics", socket: stage.daemon.controlSocket).body
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return try #require(line.flatMap { Double($0.dropFirst(name.count + 1)) }, "no \(name)")
    }

    /// Every command, one after another, on a live broadcast; what viewers get afterwards shows each.
    @Test(.inItsTurn) func commandsShowInTheRecording() async throws {
        try await blocking {
            let stage = try Stage(.patient)
            #expect(try post(stage, "/pause") == 409)
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            try stage.show(NumberedPictures.landscape(1), orientation: .up, in: playback)

            // What comes while it is paused is not shown, not even once it goes on.
            #expect(try post(stage, "/pause") == 200)
            #expect(try stage.daemon.status()["state"] as? String == "paused")
            let before = try metric("upcast_dropped_total{cause=\"video_paused\"}", stage)
            for _ in 0..<5 {
                try playback.client.send(NumberedPictures.landscape(2), pts: playback.now, orientation: .up)
            }
            try waitFor("the pictures to be thrown away") {
                try metric("upcast_dropped_total{cause=\"video_paused\"}", stage) == before + 5
            }
            let repeated = try metric("upcast_video_frames_repeated_total", stage)
            try waitFor("the last picture to be repeated") {
                try metric("upcast_video_frames_repeated_total", stage) > repeated + 2
            }
            #expect(try post(stage, "/resume") == 200)
            try stage.show(NumberedPictures.landscape(3), orientation: .up, in: playback)

            let keyframes = try metric("upcast_video_keyframes_total", stage)
            #expect(try post(stage, "/keyframe") == 200)
            try waitFor("a keyframe") {
                try playback.client.send(NumberedPictures.landscape(3), pts: playback.now, orientation: .up)
                return try metric("upcast_video_keyframes_total", stage) > keyframes
            }

            #expect(try post(stage, "/bitrate", "{\"bits_per_second\": 600000}") == 200)
            try waitFor("the bitrate to fall") {
                try playback.client.send(NumberedPictures.landscape(3), pts: playback.now, orientation: .up)
                return try metric("upcast_video_target_bytes_per_second", stage) == 75_000
            }
            #expect(try post(stage, "/bitrate", "{\"bits_per_second\": 5}") == 400)
            // More than memory was planned for.
            #expect(try post(stage, "/bitrate", "{\"bits_per_second\": 8000001}") == 400)
            #expect(try post(stage, "/bitrate", "not json") == 400)
            #expect(try post(stage, "/bitrate", "{\"bits_per_secnd\": 500000}") == 400)
            #expect(try post(stage, "/destinations/retry?nane=main") == 400)
            #expect(try post(stage, "/destinations/retry?name=main") == 200)
            #expect(try post(stage, "/log-level", "{\"level\": \"debug\"}") == 200)
            #expect(try post(stage, "/log-level", "{\"level\": \"loud\"}") == 400)

            // Some may be on their way.
            try stage.waitUntilRead(pictures: playback.client.samplesSent)
            let frames = try metric("upcast_video_frames_received_total", stage)
            #expect(try post(stage, "/stop") == 200)
            let goodbye = try playback.client.waitForReply("a goodbye", within: 20) {
                if case .goodbye(let goodbye) = $0 { goodbye } else { nil }
            }
            #expect(goodbye.reason == .endedByOperator)
            // The counters go on counting, and the daemon takes the next client.
            try waitFor("the daemon to be idle") { try stage.daemon.status()["state"] as? String == "idle" }
            #expect(try metric("upcast_video_frames_received_total", stage) == frames)
            let recording = try stage.server.finishedRecording()
            var numbers: Set<UInt8> = []
            try DecodedVideo.forEachFrame(of: recording) { frame in
                if let number = NumberedPictures.number(in: frame.image) { numbers.insert(number) }
            }
            #expect(numbers == [1, 3], "what was shown: \(numbers)")
            try stage.checkRecording(recording)
            try stage.end()
        }
    }

    /// The picture of a snapshot is what is broadcast; without a broadcast there is none.
    @Test(.inItsTurn) func snapshotsShowWhatIsBroadcast() async throws {
        try await blocking {
            let stage = try Stage()
            #expect(try UnixHTTPClient.get("/snapshot.jpg", socket: stage.daemon.controlSocket).status == 404)
            let playback = try stage.live(showing: NumberedPictures.landscape(77))
            try stage.show(NumberedPictures.landscape(77), orientation: .up, in: playback)
            let answer = try UnixHTTPClient.get("/snapshot.jpg", socket: stage.daemon.controlSocket)
            #expect(answer.status == 200)
            #expect(answer.mediaType == "image/jpeg")
            let folder = try TemporaryDirectory("snapshot")
            try Data(answer.bytes).write(to: URL(filePath: folder.file("a.jpg")))
            _ = try ChildProcess.run(
                "ffmpeg",
                [
                    "-nostdin", "-v", "error", "-i", folder.file("a.jpg"), "-vf",
                    "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p", "-f", "rawvideo", folder.file("a.raw"),
                ])
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: folder.file("a.raw"))))
            let image = I420Image(width: 640, height: 360, bytes: bytes)
            #expect(NumberedPictures.number(in: image) == 77)
            let sent = ReferenceCanvas.render(
                ReferencePicture(width: 320, height: 180, number: 77).image, width: 640, height: 360, fit: .fit)
            let comparison = try PictureComparison(image, sent)
            #expect(comparison.isSamePicture, "\(comparison)")
            try playback.client.finish()
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    /// A thousand clients that are silent, slow, broken or greedy, while two operators go on working.
    @Test(.inItsTurn) func aThousandBadClients() async throws {
        try await blocking {
            let stage = try Stage()
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            // What the first of each kind takes is no leak.
            for kind in 0..<Self.badRequests.count { try Self.badClient(kind, stage).relinquishAndClose() }
            _ = try UnixHTTPClient.get("/metrics", socket: stage.daemon.controlSocket)
            let before = try #require(stage.daemon.figures)
            let counted = try metric("upcast_video_frames_received_total", stage)

            var open: [OwnedSocket] = []
            var slowest = MediaTime.zero
            for number in 0..<1000 {
                // Half of them stay as long as they are let.
                let client = try Self.badClient(number % Self.badRequests.count, stage)
                if number % 2 == 0 { open.append(client) } else { client.relinquishAndClose() }
                guard number % 20 == 0 else { continue }
                try playback.client.send(NumberedPictures.landscape(1), pts: playback.now, orientation: .up)
                // Both operators, at once in the middle of it.
                let begun = MonotonicClock().now()
                let status = try post(stage, "/bitrate", "{\"bits_per_second\": \(1_000_000 + number)}")
                #expect(status == 200)
                #expect(try UnixHTTPClient.get("/status", socket: stage.daemon.controlSocket).status == 200)
                slowest = max(slowest, MonotonicClock().now() - begun)
            }
            #expect(stage.daemon.process.isRunning)
            let during = try #require(stage.daemon.figures)
            #expect(during.openDescriptors <= before.openDescriptors + 20)
            try waitFor("every picture to be taken") {
                try metric("upcast_video_frames_received_total", stage) == counted + 50
            }
            open.removeAll()
            try waitFor("the connections to be gone") {
                (stage.daemon.figures?.openDescriptors ?? .max) <= before.openDescriptors + 1
            }
            let after = try #require(stage.daemon.figures)
            let grown = after.anonymousBytes - before.anonymousBytes
            print("bad clients: anonymous memory grew by \(grown / 1024) KiB, operators waited \(slowest) at most")
            if ProcessInfo.processInfo.environment["UPCAST_SANITIZER"] == nil {
                #expect(grown < 3 << 20)
                #expect(during.anonymousBytes - before.anonymousBytes < 4 << 20)
            }
            try playback.client.finish()
            try stage.checkRecording(try stage.server.finishedRecording())
            try stage.end()
        }
    }

    private static let badRequests: [String] = [
        "", "G", "GET /status HTTP/1.1\r\nX: ", "\r\n\r\n\r\n", "\u{0}\u{1}\u{2}",
        "GET /events?status=250 HTTP/1.1\r\n\r\n",
        "GET " + String(repeating: "/a", count: 40_000), "POST /bitrate HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n{",
        "POST /stop HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n",
        "GET /status HTTP/9.9\r\n\r\n", "GET /metrics HTTP/1.1\r\n\r\n",
        "X: " + String(repeating: "y", count: 9000) + "\r\n\r\n",
    ]

    /// Connects, sends what it can without waiting, and reads nothing.
    private static func badClient(_ kind: Int, _ stage: Stage) throws -> OwnedSocket {
        let socket = try OwnedSocket(stage.daemon.controlSocket)
        socket.send(badRequests[kind])
        return socket
    }
}

/// A connection that is closed when nobody holds it.
private final class OwnedSocket {
    private let descriptor: CInt

    init(_ path: String) throws { descriptor = try UnixSocket.connect(path: path).relinquish() }
    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, CInt(Int(MSG_NOSIGNAL) | Int(MSG_DONTWAIT)))
    }

    /// Says that it is over, which is what the end of its life does.
    func relinquishAndClose() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
