import Foundation
import MediaCore
import TestSupport
import Testing

/// Promise: `upcast-screen` sends a display as it is, when it changes, through ends of the X server and of the daemon.
@Suite struct ScreenClientTests {
    /// What viewers see is what a direct grab of the same display shows; and the square moves.
    @Test(.inItsTurn) func theDisplayArrives() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let scene = ReferenceCanvas.render(
                ReferencePicture(width: 640, height: 360, number: 171).image, width: 640, height: 360, fit: .fit)
            let player = try screen.play(scene)
            let stage = try Stage()
            let client = try stage.capture(screen, ["--no-pointer"])
            try stage.waitUntilLive(client)
            let before = try stage.daemon.receivedPictures()
            try waitFor("the square to move", evidence: { client.errorTail }) {
                try stage.daemon.receivedPictures() > before + 30
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
            let client = try stage.capture(screen)
            try stage.waitUntilLive(client)
            try stage.expectChanges(of: screen, client)
            try stage.end(client)
        }
    }

    /// As with `ssh -X`: the server has MIT-SHM, but no memory can be shared with it.
    @Test(.inItsTurn, arguments: DisplayRelay.Kind.allCases)
    func relayedDisplays(kind: DisplayRelay.Kind) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let relay = try DisplayRelay(to: screen.display, kind)
            let stage = try Stage()
            let client = try stage.capture(["--display", relay.display])
            try stage.waitUntilLive(client)
            try stage.expectChanges(of: screen, client)
            try stage.end(client)
        }
    }

    /// The processes of a relayed display may be of another system. So a rule about them hides what it may mean.
    @Test(.inItsTurn, arguments: [true, false]) func processesOfARelayedDisplay(isRelayed: Bool) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let relay = try DisplayRelay(to: screen.display, .unix)
            let window = try screen.fill("0xff00ff")
            try waitFor("the window", while: window) { try screen.grab().hasMagenta }
            let stage = try Stage()
            let display = isRelayed ? relay.display : screen.display
            let client = try stage.capture(["--display", display, "--hide", "process=no-such-program"])
            try stage.waitUntilLive(client)
            try stage.daemon.settledFrames()
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            #expect(client.errors.contains("the processes of windows are not known") == isRelayed, "\(client.errors)")
            let seen = try MarkedFrames(of: [stage.server.finishedRecording()])
            #expect(seen.frames > 0 && (seen.marked == 0) == isRelayed, "\(seen) show the window")
            try stage.end()
        }
    }

    /// A remote desktop takes the size of its viewer.
    @Test(.inItsTurn, arguments: [16, 24]) func aRemoteDesktop(depth: Int) async throws {
        try await blocking {
            let screen = try VirtualScreen(.xvnc, width: 640, height: 360, depth: depth)
            let stage = try Stage()
            let client = try stage.capture(screen)
            try stage.waitUntilLive(client)
            for size in [(width: 1280, height: 720), (width: 640, height: 360)] {
                let name = "\(size.width)x\(size.height)"
                _ = try ChildProcess.run(
                    "xrandr", ["--display", screen.display, "--output", "VNC-0", "--mode", name])
                try waitFor("another size", while: client) {
                    client.errors.components(separatedBy: "capturing ").last?.hasPrefix("\(name)+0+0\n") ?? false
                }
                try stage.expectChanges(of: screen, size: size, client)
            }
            try stage.end(client)
        }
    }

    /// The pointer is in the frames, and out of them with `--no-pointer`.
    @Test(.inItsTurn, arguments: [true, false]) func thePointer(isDrawn: Bool) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let stage = try Stage()
            let client = try stage.capture(screen, isDrawn ? [] : ["--no-pointer"])
            try stage.waitUntilLive(client)
            // Xvfb's pointer is in the middle, where it has the shape of a text cursor.
            let window = try screen.xterm("Plain", "200x60+0+0")
            try waitFor("the window", evidence: { client.errorTail }) { try stage.luma(x: 200) > 200 }
            try waitFor("the pointer, if it is drawn", evidence: { client.errorTail }) {
                (try stage.luma() < 230) == isDrawn
            }
            #expect(try stage.luma(x: 200) > 230)
            try window.stop(SIGKILL)
            try stage.end(client)
        }
    }

    /// A server with SECURITY keeps a shape to itself once the program that made it has ended. The pointer is drawn
    /// nevertheless: as it was known last, or as an arrow.
    @Test(.inItsTurn, arguments: [true, false]) func aPointerWhoseMakerHasEnded(isKnownBefore: Bool) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            func setShape() throws {
                _ = try ChildProcess.run("xsetroot", ["-display", screen.display, "-cursor_name", "watch"])
            }
            if !isKnownBefore {
                // A server tells the shape of a client that has ended to the next one in its place. Somebody else takes
                // the first place meanwhile, which upcast-screen then gets.
                let other = try ChildProcess("xev", ["-display", screen.display])
                try waitFor("xev's window", evidence: { other.errorTail }) { other.output.contains("MapNotify") }
                try setShape()
                try other.stop(SIGKILL)
            }
            _ = try ChildProcess.run("xsetroot", ["-display", screen.display, "-solid", "white"])
            let stage = try Stage()
            let client = try stage.capture(screen)
            try stage.waitUntilLive(client)
            func waitForPointer(_ what: String) throws {
                try waitFor(what, evidence: { client.errorTail }) {
                    let image = try stage.snapshot()
                    return image.meanLuma(x: 200, y: 180, radius: 6) > 220
                        && image.meanLuma(x: 324, y: 188, radius: 6) < 200
                }
            }
            try waitForPointer("the pointer")
            if isKnownBefore {
                try setShape()
                // A change, so that another frame is sent.
                _ = try ChildProcess.run("xsetroot", ["-display", screen.display, "-solid", "black"])
                try waitFor("black", evidence: { client.errorTail }) { try stage.luma(x: 200) < 30 }
                _ = try ChildProcess.run("xsetroot", ["-display", screen.display, "-solid", "white"])
                try waitForPointer("the last known shape")
            }
            try stage.end(client)
        }
    }

    /// A pointer that moves while nothing else does: as a mouse does it, and a program.
    @Test(.inItsTurn, arguments: [true, false]) func aPointerThatMoves(byDevice: Bool) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let stage = try Stage()
            let client = try stage.capture(screen)
            try stage.waitUntilLive(client)
            // Over it, the pointer has the shape of a text cursor.
            let window = try screen.xterm("Plain", "200x60+0+0")
            for x in [320, 420, 220] {
                if x != 320, byDevice {
                    // XTEST's device.
                    try screen.xdotool("mousemove_relative", "--", x > 320 ? "100" : "-200", "0")
                } else if x != 320 {
                    // XWarpPointer.
                    try screen.xdotool("mousemove", "\(x)", "180")
                }
                try waitFor("the pointer at \(x)", evidence: { client.errorTail }) {
                    let image = try stage.snapshot()
                    return [220, 320, 420].allSatisfy {
                        (image.meanLuma(x: $0, y: 180, radius: 6) < 230) == ($0 == x)
                    }
                }
            }
            try window.stop(SIGKILL)
            try stage.end(client)
        }
    }

    /// A daemon that ends and comes back: the client goes on by itself.
    @Test(.inItsTurn) func aDaemonThatComesBack() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let recorder = try RecordingDaemon()
            let client = try recorder.capture(screen)
            try recorder.end(while: client)
            try recorder.startAgain()
            try recorder.waitFor("the second broadcast", client) {
                recorder.daemon.log.contains("broadcast started")
            }
            #expect(try recorder.recordings(after: client).count == 2)
        }
    }

    /// An X server that ends while there is no daemon, and is there again before the daemon, or after it.
    @Test(.inItsTurn, arguments: [true, false]) func bothComeBack(isScreenFirst: Bool) async throws {
        try await blocking {
            let display = Self.ownDisplay(isScreenFirst ? 1 : 2)
            let screen = try VirtualScreen(width: 640, height: 360, display: display)
            let recorder = try RecordingDaemon()
            let client = try recorder.capture(screen)
            try recorder.end(while: client)
            try screen.end()
            try recorder.waitFor("the client to notice", client) { client.errors.contains(Self.xServerEnded) }
            if !isScreenFirst { try recorder.startAgain() }
            let next = try VirtualScreen(width: 800, height: 450, display: display)
            let colour = try next.fill("0xc08040")
            if isScreenFirst { try recorder.startAgain() }
            try recorder.waitFor("the new screen", client) {
                try recorder.daemon.snapshot().meanLuma(x: 320, y: 180, radius: 6) > 120
            }
            try colour.stop(SIGKILL)
            #expect(client.errors.components(separatedBy: Self.xServerEnded).count == 2, "\(client.errors)")
            #expect(try recorder.recordings(after: client).count == 2)
        }
    }

    private static let xServerEnded = "the X server has ended; waiting for it to come back"

    /// Servers that look for a free number begin at 0: none of them takes this one in the meantime.
    private static func ownDisplay(_ number: Int32) -> String { ":\(1_000 + (getpid() % 10_000 * 4 + number))" }

    /// Nothing is sent while nothing changes, however long it takes; and then the change is there.
    @Test(.inItsTurn, arguments: [true, false]) func aStillDisplayCostsNothing(showsPointer: Bool) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let stage = try Stage()
            let client = try stage.capture(screen, showsPointer ? [] : ["--no-pointer"])
            try stage.waitUntilLive(client)
            func wakeUps(_ thread: String) throws -> Int {
                try ThreadFigures(of: client.processID, named: thread).wakeUps
            }
            // What the first pictures bring with them passes.
            try waitFor("the screen to be still", evidence: { client.errorTail }) {
                let before = try wakeUps("screen-grab")
                Thread.sleep(forTimeInterval: 0.2)
                return try wakeUps("screen-grab") == before
            }
            let before = try stage.daemon.receivedPictures()
            let (grabbing, main) = (try wakeUps("screen-grab"), try wakeUps("upcast-screen"))
            // What is counted is what does not come in this time; nothing waits for its end.
            Thread.sleep(forTimeInterval: 2)
            #expect(try stage.daemon.receivedPictures() - before <= 1)
            // A pointer that is drawn is asked for twice a second: the thread waits for that moment, and for the
            // answer. The daemon tells its counters each second.
            let woken = (grabbing: try wakeUps("screen-grab") - grabbing, main: try wakeUps("upcast-screen") - main)
            let limit = showsPointer ? 10 : 0
            #expect(woken.grabbing <= limit && woken.main <= 5, "the threads have woken \(woken) times")
            let change = try screen.fill("0xc08040")
            try waitFor("the change", evidence: { client.errorTail }) { try stage.luma() > 120 }
            try change.stop(SIGKILL)
            try stage.end(client)
        }
    }

    /// An X server that ends and comes back: the broadcast goes on, and shows the new one.
    @Test(.inItsTurn) func anXServerThatComesBack() async throws {
        try await blocking {
            let display = Self.ownDisplay(0)
            let screen = try VirtualScreen(width: 640, height: 360, display: display)
            let stage = try Stage()
            let client = try stage.capture(screen)
            try stage.waitUntilLive(client)
            try screen.end()
            try waitFor("upcast-screen to notice", evidence: { client.errorTail }) {
                client.errors.contains(Self.xServerEnded)
            }
            let next = try VirtualScreen(width: 800, height: 450, display: display)
            let colour = try next.fill("0xc08040")
            try waitFor("the new screen", evidence: { client.errorTail }) { try stage.luma() > 120 }
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
            let client = try stage.capture(screen, ["--monitor", "Left"])
            try stage.waitUntilLive(client)
            try xrandr("--delmonitor", "Left")
            try waitFor("the client to notice", evidence: { client.errorTail }) {
                client.errors.contains("viewers keep the last frame") || client.errors.contains("waiting for it")
            }
            try xrandr("--setmonitor", "Left", "640/100x360/100+640+0", "none")
            try waitFor("the monitor to be back", evidence: { client.errorTail }) {
                client.errors.contains("capturing 640x360+640+0")
            }
            try stage.daemon.waitForLog("broadcast started")
            let broadcasts = stage.daemon.log.components(separatedBy: "broadcast started").count - 1
            #expect(broadcasts == 1, "one broadcast throughout")
            try stage.end(client)
        }
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
