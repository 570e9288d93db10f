import Foundation
import MediaCore
import TestSupport
import Testing

/// Promise: `upcast-screen` sends a display as it is, when it changes, through ends of the X server and of the daemon.
@Suite struct ScreenClientTests {
    private static func client(
        _ screen: VirtualScreen, _ stage: Stage, _ options: [String] = []
    ) throws -> ChildProcess {
        try ChildProcess(
            ProductExecutable.upcastScreen.path,
            ["--display", screen.display, "--socket", stage.daemon.ingestSocket] + options)
    }

    private static func isLive(_ stage: Stage, _ client: ChildProcess) throws {
        try waitFor("the screen to be live", evidence: { client.errorTail + stage.daemon.log }) {
            guard client.isRunning else { throw TestFailure("upcast-screen ended. \(client.errorTail)") }
            return try Self.received(stage) > 0
        }
    }

    /// Pictures that came to the daemon.
    private static func received(_ stage: Stage) throws -> Int {
        (try stage.daemon.status()["video"] as? [String: Any])?["frames_received"] as? Int ?? 0
    }

    /// What viewers see is what a direct grab of the same display shows; and the square moves.
    @Test(.inItsTurn) func theDisplayArrives() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let scene = ReferenceCanvas.render(
                ReferencePicture(width: 640, height: 360, number: 171).image, width: 640, height: 360, fit: .fit)
            let player = try screen.play(scene)
            let stage = try Stage()
            let client = try Self.client(screen, stage, ["--no-pointer"])
            try Self.isLive(stage, client)
            let before = try Self.received(stage)
            try waitFor("the square to move", evidence: { client.errorTail }) {
                try Self.received(stage) > before + 30
            }
            let direct = try screen.grab()
            client.signal(SIGINT)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            let recording = try stage.server.finishedRecording()
            try player.stop(SIGKILL)
            var last: I420Image?
            try DecodedVideo.forEachFrame(of: recording) { last = $0.image }
            let image = try #require(last)
            let comparison = try PictureComparison(Self.upper(image), Self.upper(direct))
            try PictureArchive.save(image, as: "screen-client")
            #expect(comparison.isSamePicture, "\(comparison)")
            #expect(client.errors.contains("capturing 640x360+0+0"), "\(client.errors)")
            try stage.end()
        }
    }

    /// Displays that lack what makes it cheap, or have other colours: what viewers see is the same.
    @Test(
        .inItsTurn,
        arguments: [
            // Xvfb 21.1 without XFIXES crashes when a client ends.
            (24, ["MIT-SHM"]), (24, ["DAMAGE"]), (24, ["RANDR"]), (24, ["MIT-SHM", "DAMAGE", "RANDR"]),
            (30, []), (16, []),
        ])
    func poorDisplays(depth: Int, without: [String]) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360, depth: depth, without: without)
            let stage = try Stage()
            let client = try Self.client(screen, stage)
            try Self.isLive(stage, client)
            let colour = try screen.fill("0xc08040")
            try waitFor("the colour", evidence: { client.errorTail }) { abs(try Self.luma(stage, x: 200) - 133) < 8 }
            try colour.stop(SIGKILL)
            try waitFor("black again", evidence: { client.errorTail }) { try Self.luma(stage, x: 200) < 30 }
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    /// The pointer is in the frames, and out of them with `--no-pointer`.
    @Test(.inItsTurn, arguments: [true, false]) func thePointer(isDrawn: Bool) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let stage = try Stage()
            let client = try Self.client(screen, stage, isDrawn ? [] : ["--no-pointer"])
            try Self.isLive(stage, client)
            // Xvfb's pointer is in the middle, where it has the shape of a text cursor.
            let window = try ChildProcess(
                "xterm",
                ["-display", screen.display, "-geometry", "200x60+0+0", "-bg", "white", "+sb", "-e", "sleep 60"])
            try waitFor("the window", evidence: { client.errorTail }) { try Self.luma(stage, x: 200) > 200 }
            try waitFor("the pointer, if it is drawn", evidence: { client.errorTail }) {
                (try Self.luma(stage) < 230) == isDrawn
            }
            #expect(try Self.luma(stage, x: 200) > 230)
            try window.stop(SIGKILL)
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    /// A daemon that ends and comes back: the client goes on by itself.
    @Test(.inItsTurn) func aDaemonThatComesBack() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let folder = try TemporaryDirectory("back")
            var settings = DaemonSettings()
            settings.destinations = [("file", ["url": "\"file:\(folder.file("a.flv"))\""])]
            let first = try Daemon(settings)
            let client = try ChildProcess(
                ProductExecutable.upcastScreen.path,
                ["--display", screen.display, "--socket", first.ingestSocket])
            try waitFor("the first broadcast", evidence: { client.errorTail }) {
                first.log.contains("broadcast started")
            }
            #expect(try first.terminate() == .code(0), "\(first.process.errorTail)")
            try waitFor("the client to notice", evidence: { client.errorTail }) {
                client.errors.contains("waiting for it to come back")
            }
            let second = try Daemon(after: first)
            try waitFor("the second broadcast", evidence: { client.errorTail }) {
                second.log.contains("broadcast started")
            }
            client.signal(SIGINT)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            #expect(try second.terminate() == .code(0), "\(second.process.errorTail)")
        }
    }

    /// Nothing is sent while nothing changes, however long it takes; and then the change is there.
    @Test(.inItsTurn) func aStillDisplayCostsNothing() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let stage = try Stage()
            let client = try Self.client(screen, stage)
            try Self.isLive(stage, client)
            let before = try Self.received(stage)
            // What is counted is what does not come in this time; nothing waits for its end.
            Thread.sleep(forTimeInterval: 2)
            #expect(try Self.received(stage) - before <= 1)
            let change = try screen.fill("0xc08040")
            try waitFor("the change", evidence: { client.errorTail }) { try Self.luma(stage) > 120 }
            try change.stop(SIGKILL)
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    /// An X server that ends and comes back: the broadcast goes on, and shows the new one.
    @Test(.inItsTurn) func anXServerThatComesBack() async throws {
        try await blocking {
            var screen: VirtualScreen? = try VirtualScreen(width: 640, height: 360)
            let display = try #require(screen).display
            let stage = try Stage()
            let client = try Self.client(try #require(screen), stage)
            try Self.isLive(stage, client)
            screen = nil
            try waitFor("upcast-screen to notice", evidence: { client.errorTail }) {
                client.errors.contains("the X server has ended; waiting for it to come back")
            }
            let next = try VirtualScreen(width: 800, height: 450, display: display)
            let colour = try next.fill("0xc08040")
            try waitFor("the new screen", evidence: { client.errorTail }) { try Self.luma(stage) > 120 }
            #expect(client.errors.contains("capturing 800x450+0+0"), "\(client.errors)")
            try colour.stop(SIGKILL)
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            #expect(stage.server.recordings.count == 1, "one broadcast throughout")
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    /// A monitor that goes and comes back elsewhere.
    @Test(.inItsTurn) func aMonitorThatGoes() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 1280, height: 360)
            let stage = try Stage()
            func xrandr(_ arguments: String...) throws {
                _ = try ChildProcess.run("xrandr", ["--display", screen.display] + arguments)
            }
            try xrandr("--setmonitor", "Left", "640/100x360/100+0+0", "none")
            let client = try Self.client(screen, stage, ["--monitor", "Left"])
            try Self.isLive(stage, client)
            try xrandr("--delmonitor", "Left")
            try waitFor("the client to notice", evidence: { client.errorTail }) {
                client.errors.contains("viewers keep the last frame") || client.errors.contains("waiting for it")
            }
            try xrandr("--setmonitor", "Left", "640/100x360/100+640+0", "none")
            try waitFor("the monitor to be back", evidence: { client.errorTail }) {
                client.errors.contains("capturing 640x360+640+0")
            }
            let broadcasts = stage.daemon.log.components(separatedBy: "broadcast started").count - 1
            #expect(broadcasts == 1, "one broadcast throughout")
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    /// Of what viewers see now, in the middle of its height.
    static func luma(_ stage: Stage, x: Int = 320) throws -> Double {
        let answer = try UnixHTTPClient.get("/snapshot.jpg", socket: stage.daemon.controlSocket)
        guard answer.status == 200 else { return 0 }
        let folder = try TemporaryDirectory("snapshot")
        try Data(answer.bytes).write(to: URL(filePath: folder.file("a.jpg")))
        _ = try ChildProcess.run(
            "ffmpeg",
            [
                "-nostdin", "-v", "error", "-i", folder.file("a.jpg"), "-vf", VirtualScreen.toVideoRange,
                "-f", "rawvideo", folder.file("a.raw"),
            ])
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: folder.file("a.raw"))))
        return I420Image(width: 640, height: 360, bytes: bytes).meanLuma(x: x, y: 180, radius: 6)
    }

    /// What lies above the square that moves.
    private static func upper(_ image: I420Image) -> I420Image {
        let rows = 304
        return I420Image(
            width: image.width, height: rows, y: Array(image.y.prefix(rows * image.width)),
            u: Array(image.u.prefix(rows / 2 * image.chromaWidth)),
            v: Array(image.v.prefix(rows / 2 * image.chromaWidth)))
    }
}
