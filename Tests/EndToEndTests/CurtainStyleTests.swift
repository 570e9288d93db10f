import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: while the curtain is up, from a broadcast's first picture on, viewers see what `privacy.curtain_style`
/// says.
@Suite struct CurtainStyleTests {
    private static let marker = RawSample(RGBImage(width: 320, height: 240, filling: RGB(1, 0, 1)), format: .i420)

    private func isMarker(_ image: I420Image) -> Bool { image.u[image.u.count / 2 + 160] > 150 && image.v.max()! > 200 }

    /// The first picture that goes out, one while the curtain is up, and the last, after it.
    private func pictures(
        _ privacy: [String: String], name: String, breaking file: String? = nil
    ) throws -> (first: I420Image, curtain: I420Image, last: I420Image, log: String) {
        // A file is whole, also where a server's connection has to be broken.
        let folder = try TemporaryDirectory("flv")
        var settings = DaemonSettings()
        settings.privacy = privacy
        settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
        let stage = try Stage(settings)
        if let file { _ = try ChildProcess.run("truncate", ["-s", "60", file]) }
        func post(_ path: String) throws {
            #expect(try UnixHTTPClient.ask("POST", path, body: "", socket: stage.daemon.controlSocket).status == 200)
        }
        try post("/curtain/up")
        let client = try CaptureClient(socket: stage.daemon.ingestSocket)
        try client.start()
        let playback = Playback(client)
        try playback.bringLive(Self.marker)
        try post("/curtain/down")
        // Until some of it has left when the curtain is raised.
        func sent() throws -> Int { try stage.destination()["packets_sent"] as? Int ?? 0 }
        var timetable: [(at: MediaTime, action: Playback.Action)] = []
        timetable.show(Self.marker, from: .zero, to: .seconds(1), every: .milliseconds(50))
        try playback.play(timetable)
        for _ in 0..<4 { try stage.show(Self.marker, orientation: .up, in: playback) }
        let enough = try sent() + 10
        try waitFor("it to leave") { try sent() > enough }
        func repeated() throws -> Int {
            (try stage.daemon.status()["video"] as? [String: Any])?["frames_repeated"] as? Int ?? 0
        }
        try post("/curtain/up")
        // An encoder with a bitrate to keep makes it better from frame to frame.
        let before = try repeated()
        try waitFor("the curtain to go out", evidence: { stage.daemon.log }) { try repeated() > before + 5 }
        try post("/curtain/down")
        for _ in 0..<4 { try stage.show(Self.marker, orientation: .up, in: playback) }
        try client.finish()
        var images: [I420Image] = []
        try DecodedVideo.forEachFrame(of: folder.file("out.flv")) { images.append($0.image) }
        try stage.end()
        let shown = images.indices.filter { isMarker(images[$0]) }
        let (from, to) = (try #require(shown.first), try #require(shown.last))
        let curtain = try #require((from..<to).last { !isMarker(images[$0]) })
        for (index, part) in [(0, "first"), (curtain, "up"), (images.count - 1, "last")] {
            try PictureArchive.save(images[index], as: "curtain-\(name)-\(part)")
        }
        return (images[0], images[curtain], images[images.count - 1], stage.daemon.log)
    }

    private func bright(_ image: I420Image) -> Int { image.y.count { $0 > 180 } }

    /// Nothing of the curtain stays in the bars: the marker has other proportions than the canvas.
    private func checkLast(_ image: I420Image) {
        #expect(isMarker(image))
        for x in [10, 60, 580, 630] {
            for y in [20, 180, 340] { #expect(image.meanLuma(x: x, y: y) < 20, "\(x),\(y)") }
        }
    }

    @Test(.inItsTurn) func text() async throws {
        try await blocking {
            let pictures = try pictures(
                ["curtain_text": #""Gleich zurück\nBack soon""#, "curtain_color": "\"#103010\""], name: "text")
            for image in [pictures.first, pictures.curtain] {
                #expect(bright(image) > 1500, "\(bright(image))")
                #expect(image.meanLuma(x: 20, y: 20) < 60)
                #expect(image.u.max()! < 150 && image.v.max()! < 150)
            }
            checkLast(pictures.last)
        }
    }

    @Test(.inItsTurn) func frostedWithText() async throws {
        try await blocking {
            let pictures = try pictures(
                ["curtain_text": "Back soon", "curtain_style": "frosted_extra_light"], name: "frosted")
            // Of the background, which is black, and of the marker.
            for image in [pictures.first, pictures.curtain] {
                #expect(image.meanLuma(x: 20, y: 20) > 120)
                #expect(image.y.count { $0 < 50 } > 300)
            }
            checkLast(pictures.last)
        }
    }

    private func picture(_ folder: TemporaryDirectory) throws -> String {
        let path = folder.file("curtain.png")
        _ = try ChildProcess.run(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", "color=0x00c000:s=300x300", "-frames:v", "1", path])
        return path
    }

    @Test(.inItsTurn) func picture() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("picture")
            let pictures = try pictures(
                [
                    "curtain_style": "picture", "curtain_picture": try picture(folder),
                    "curtain_color": "\"#ffffff\"",
                ], name: "picture")
            for image in [pictures.first, pictures.curtain] {
                // Green in the middle, white beside it.
                #expect(image.u[90 * 320 + 160] < 70 && image.meanLuma(x: 320, y: 180) < 160)
                #expect(image.meanLuma(x: 40, y: 180) > 225 && image.meanLuma(x: 600, y: 180) > 225)
            }
            checkLast(pictures.last)
        }
    }

    /// The file goes bad after the start: solid, and a warning.
    @Test(.inItsTurn) func withoutItsPicture() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("picture")
            let path = try picture(folder)
            let pictures = try pictures(
                ["curtain_style": "picture", "curtain_picture": path, "curtain_color": "\"#c0c0c0\""], name: "solid",
                breaking: path)
            for image in [pictures.first, pictures.curtain] {
                for x in [20, 320, 620] { #expect(abs(image.meanLuma(x: x, y: 180) - 181) < 6) }
            }
            #expect(pictures.log.contains("no picture for the curtain"))
            #expect(pictures.log.contains("curtain.png is cut off, or broken"), "\(pictures.log)")
            checkLast(pictures.last)
        }
    }

    /// A client that sends no pictures has none to hide: its broadcast shows the background.
    @Test(.inItsTurn) func soundAlone() async throws {
        try await blocking {
            var settings = DaemonSettings()
            settings.privacy = ["curtain_text": "Back soon", "curtain_color": "\"#ffffff\""]
            let stage = try Stage(settings)
            let client = try CaptureClient(socket: stage.daemon.ingestSocket)
            try client.start(tracks: [.audioApp])
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            timetable.sound(
                .app, Tone(frequency: 440, amplitude: 0.25),
                format: AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16), from: .zero, to: .seconds(2))
            try Playback(client).play(timetable)
            try client.finish()
            let frames = try DecodedVideo.forEachFrame(of: stage.server.finishedRecording()) { frame in
                #expect(frame.image.y.max()! < 20)
            }
            #expect(frames > 0)
            try stage.end()
        }
    }

    /// What the start would refuse is refused by the check as well.
    @Test(.inItsTurn) func aBrokenPictureIsRefused() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("picture")
            let path = try folder.write("no picture", to: "a.png")
            let yaml =
                "ingest:\n  socket: \(folder.file("a.sock"))\ncontrol:\n  socket: \(folder.file("b.sock"))\n"
                + "destinations:\n  - url: rtmp://127.0.0.1/live/key\n"
                + "privacy:\n  curtain_style: picture\n  curtain_picture: \(path)\n"
            let file = try folder.write(yaml, to: "upcastd.yaml")
            for arguments in [["--check-config"], []] {
                let child = try ChildProcess(
                    ProductExecutable.upcastd.path, arguments + ["--config", file], environment: [:])
                #expect(child.waitForExit(within: 15) == .code(78), "\(arguments)")
                #expect(
                    child.errors.contains(
                        "upcastd.yaml:9:20: privacy.curtain_picture: \(path) is neither a PNG nor a JPEG file"),
                    "\(child.errors)")
            }
        }
    }
}
