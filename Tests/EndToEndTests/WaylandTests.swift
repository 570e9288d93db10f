import Foundation
import MediaCore
import TestSupport
import Testing

/// Promise: `upcast-screen` sends an output of a Wayland compositor as the user sees it, when it changes, through all
/// that happens to outputs and compositors.
@Suite struct WaylandTests {
    /// Four greys: darker than 60, up to 120, up to 180, and brighter.
    private static let quarters: [[UInt8]] = [[40, 90], [150, 210]]

    private static var picture: I420Image {
        let (width, height) = (640, 360)
        let rows = (0..<height).flatMap { row in (0..<width).map { quarters[row * 2 / height][$0 * 2 / width] } }
        let grey = [UInt8](repeating: 128, count: width / 2 * height / 2)
        return I420Image(width: width, height: height, y: rows, u: grey, v: grey)
    }

    /// Whether viewers see the four greys where they belong, in a picture that is as wide as this in the middle of the
    /// canvas.
    private static func isUpright(_ stage: Stage, width: Int) throws -> Bool {
        let image = try stage.snapshot()
        return [0, 1].allSatisfy { row in
            [0, 1].allSatisfy { column in
                let x = 320 + (column * 2 - 1) * width / 4
                let luma = image.meanLuma(x: x, y: 90 + row * 180, radius: 6)
                return abs(luma - Double(quarters[row][column])) < 8
            }
        }
    }

    /// What viewers see is what the output shows.
    @Test(.inItsTurn) func theOutputArrives() async throws {
        try await blocking {
            let compositor = try VirtualCompositor(width: 640, height: 360)
            let scene = ReferenceCanvas.render(
                ReferencePicture(width: 640, height: 360, number: 172).image, width: 640, height: 360, fit: .fit)
            try compositor.show(scene)
            let stage = try Stage()
            let client = try stage.capture(compositor, ["--seconds", "60"])
            try stage.waitUntilLive(client)
            try waitFor("the picture", evidence: { client.errorTail }) {
                try PictureComparison(try stage.snapshot(), scene).isSamePicture
            }
            client.signal(SIGINT)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            var last: I420Image?
            try DecodedVideo.forEachFrame(of: try stage.server.finishedRecording()) { last = $0.image }
            let comparison = try PictureComparison(try #require(last), scene)
            #expect(comparison.isSamePicture, "\(comparison)")
            #expect(client.errors.contains("capturing output HEADLESS-1, 640x360 pixels\n"), "\(client.errors)")
            try stage.end()
        }
    }

    /// Outputs that are turned while they are captured: the pixels stay as they are, and viewers see what the user
    /// does. sway counts the other way round than wl_output.
    @Test(.inItsTurn) func turnedOutputs() async throws {
        try await blocking {
            let compositor = try VirtualCompositor(width: 640, height: 360)
            try compositor.show(Self.picture)
            let stage = try Stage()
            let client = try stage.capture(compositor)
            try waitFor("the picture", evidence: { client.errorTail }) { try Self.isUpright(stage, width: 640) }
            for (transform, tag) in [
                ("90", 8), ("180", 3), ("270", 6), ("flipped", 2), ("flipped-90", 7), ("flipped-180", 4),
                ("flipped-270", 5),
            ] {
                try compositor.tell("output \(VirtualCompositor.output) transform \(transform)")
                try waitFor("orientation \(tag)", evidence: { client.errorTail }) {
                    client.errors.contains("640x360 pixels, orientation \(tag)\n")
                }
                // As high as the canvas.
                let width = transform.hasSuffix("90") || transform.hasSuffix("270") ? 360 * 360 / 640 : 640
                try waitFor("\(transform) to be upright", evidence: { client.errorTail }) {
                    try Self.isUpright(stage, width: width)
                }
            }
            try stage.end(client)
        }
    }

    /// Bug: sway 1.7 gives the opposite part of an output that is turned by 90 or 270 degrees.
    @Test(.inItsTurn, arguments: [("1", "100x100+240+20"), ("2", "50x50+120+10")])
    func partsOfTurnedOutputs(scale: String, area: String) async throws {
        try await blocking {
            let compositor = try VirtualCompositor(width: 640, height: 360)
            try compositor.tell("output \(VirtualCompositor.output) scale \(scale) transform 90")
            let stage = try Stage()
            // In the upper right quarter of the upright output.
            let client = try stage.capture(compositor, ["--no-pointer", "--area", area])
            for (transform, tag) in [("90", 8), ("270", 6), ("flipped-90", 7), ("flipped-270", 5)] {
                try compositor.fill("#000000")
                try waitFor("black", while: client) { try stage.luma() < 30 }
                try compositor.tell("output \(VirtualCompositor.output) transform \(transform)")
                try waitFor("orientation \(tag)", while: client) {
                    client.errors.contains("640x360 pixels, orientation \(tag)\n")
                }
                try compositor.show(Self.picture)
                // A first picture may be that of sway's change from one background to the other.
                let grey = try waitFor("a quarter at \(transform)", evidence: { client.errorTail }) {
                    let image = try stage.snapshot()
                    return Self.quarters.joined().first { grey in
                        [250, 320, 390].allSatisfy {
                            abs(image.meanLuma(x: $0, y: 100, radius: 6) - Double(grey)) < 8
                        }
                    }
                }
                #expect(grey == Self.quarters[0][1], "\(transform)")
            }
            try stage.end(client)
        }
    }

    /// A square that moves through a part of a turned output, and on beside it: nothing of the square stays behind.
    @Test(.inItsTurn, arguments: ["90", "flipped-270"]) func whatLeavesAPart(transform: String) async throws {
        try await blocking {
            let compositor = try VirtualCompositor(width: 640, height: 360)
            try compositor.tell("output \(VirtualCompositor.output) transform \(transform)")
            let stage = try Stage()
            // The square moves from the left edge to the middle of 360 pixels.
            let client = try stage.capture(compositor, ["--no-pointer", "--area", "140x160+0+80"])
            try stage.waitUntilLive(client)
            let before = try stage.daemon.partialPictures()
            let window = try ChildProcess(
                ProductExecutable.waylandWindow.path, ["\(Int(Patience.scaled(120)))", "360", "640"],
                environment: ["WAYLAND_DISPLAY": compositor.socket])
            /// The greatest luma on the path of the square.
            func brightest() throws -> Double {
                let image = try stage.snapshot()
                return stride(from: 180, through: 460, by: 10).map {
                    image.meanLuma(x: $0, y: 180, radius: 3)
                }.max() ?? 0
            }
            try waitFor("the square", evidence: { client.errorTail + window.errorTail }) {
                try stage.daemon.partialPictures() > before + 5
            }
            let grey = 16 + 64 * 219.0 / 255
            try waitFor("it to leave", evidence: { client.errorTail }) { try abs(brightest() - grey) < 12 }
            try window.stop(SIGKILL)
            try waitFor("black again", evidence: { client.errorTail }) { try brightest() < 30 }
            try stage.end(client)
        }
    }

    /// A square that moves over an output, however this is turned: the compositor tells that only its places have
    /// changed, the daemon redraws only these, and nothing of the square stays behind.
    @Test(.inItsTurn, arguments: ["normal", "90", "180", "flipped", "flipped-270"])
    func whatChangesInOnePlace(transform: String) async throws {
        try await blocking {
            let compositor = try VirtualCompositor(width: 640, height: 360)
            try compositor.tell("output \(VirtualCompositor.output) transform \(transform)")
            let stage = try Stage()
            let client = try stage.capture(compositor, ["--no-pointer"])
            try stage.waitUntilLive(client)
            let before = try stage.daemon.partialPictures()
            let isTurned = transform.hasSuffix("90") || transform.hasSuffix("270")
            // One step for each frame of the compositor; a slow daemon takes only some of them.
            let steps = Int(Patience.scaled(60))
            let window = try ChildProcess(
                ProductExecutable.waylandWindow.path, ["\(steps)"] + (isTurned ? ["360", "640"] : ["640", "360"]),
                environment: ["WAYLAND_DISPLAY": compositor.socket])
            // As wide as the output is on the canvas, and half of the square.
            let (width, half) = isTurned ? (202, 12) : (640, 20)
            let grey = 16 + 64 * 219 / 255
            try waitFor("the square in the middle", evidence: { client.errorTail + window.errorTail }) {
                let image = try stage.snapshot()
                return image.meanLuma(x: 320, y: 90, radius: 4) > 225
                    && stride(from: 320 - width / 2 + 8, to: 320 - half - 8, by: 4).allSatisfy {
                        abs(image.meanLuma(x: $0, y: 90, radius: 2) - Double(grey)) < 12
                    }
            }
            #expect(try stage.daemon.partialPictures() - before > 10)
            try window.stop(SIGKILL)
            try stage.end(client)
        }
    }

    /// Nothing is sent while nothing changes, however long it takes; and then the change is there.
    @Test(.inItsTurn) func aStillOutputCostsNothing() async throws {
        try await blocking {
            let compositor = try VirtualCompositor(width: 640, height: 360)
            let stage = try Stage()
            let client = try stage.capture(compositor)
            try stage.waitUntilLive(client)
            try compositor.fill("#404040")
            try waitFor("the first colour", evidence: { client.errorTail }) { try stage.luma() > 60 }
            let before = try stage.daemon.receivedPictures()
            // What is counted is what does not come in this time; nothing waits for its end.
            Thread.sleep(forTimeInterval: 2)
            #expect(try stage.daemon.receivedPictures() == before)
            try compositor.fill("#c08040")
            try waitFor("the change", evidence: { client.errorTail }) { try stage.luma() > 120 }
            try stage.end(client)
        }
    }

    /// Frames come no faster than asked for, and the last change is in the last one.
    @Test(.inItsTurn) func theRateIsKept() async throws {
        try await blocking {
            let compositor = try VirtualCompositor(width: 640, height: 360)
            let stage = try Stage()
            let client = try stage.capture(compositor, ["--fps", "2"])
            try stage.waitUntilLive(client)
            let (before, begin) = (try stage.daemon.receivedPictures(), ContinuousClock.now)
            for number in 0..<40 { try compositor.fill(number % 2 == 0 ? "#404040" : "#808080") }
            try compositor.fill("#c08040")
            try waitFor("the last colour", evidence: { client.errorTail }) { abs(try stage.luma() - 133) < 8 }
            let seconds = (ContinuousClock.now - begin) / .seconds(1)
            let frames = try stage.daemon.receivedPictures() - before
            // One that was asked for before, and one at each end.
            #expect(Double(frames) <= seconds * 2 + 3, "\(frames) frames in \(seconds) s")
            try stage.end(client)
        }
    }

    /// An output gets larger and smaller.
    @Test(.inItsTurn) func outputsThatChange() async throws {
        try await blocking {
            let compositor = try VirtualCompositor(width: 640, height: 360)
            try compositor.show(Self.picture)
            let stage = try Stage()
            let client = try stage.capture(compositor)
            try stage.waitUntilLive(client)
            for size in ["1280x720", "320x180", "640x360"] {
                try compositor.tell("output \(VirtualCompositor.output) resolution \(size)")
                try waitFor("\(size)", evidence: { client.errorTail }) {
                    let video = try stage.daemon.status()["video"] as? [String: Any]
                    let isSent = video?["source"] as? String == "\(size) BGRA"
                    return try isSent && Self.isUpright(stage, width: 640)
                }
            }
            try stage.end(client)
        }
    }

    /// The only output goes, and comes back with another name. Of several, none takes the place of one that is gone.
    @Test(.inItsTurn) func outputsThatGo() async throws {
        try await blocking {
            let outer = try VirtualCompositor(width: 640, height: 360)
            let compositor = try VirtualCompositor(width: 640, height: 360, inside: outer)
            try compositor.fill("#c08040", output: "WL-1")
            let stage = try Stage()
            let client = try stage.capture(compositor)
            try waitFor("the output", evidence: { client.errorTail }) { abs(try stage.luma() - 133) < 8 }
            try outer.tell("kill")
            try waitFor("the output to be gone", evidence: { client.errorTail }) {
                client.errors.contains("the compositor has no output WL-1; viewers keep the last frame")
            }
            #expect(abs(try stage.luma() - 133) < 8)
            try compositor.tell("create_output")
            try compositor.fill("#ffffff", output: "WL-2")
            try waitFor("the output to be back", evidence: { client.errorTail }) { try stage.luma() > 225 }
            // Another output comes before this one goes, and upcast-screen hears of both at once. Without a background:
            // to give it one, sway draws those of all outputs again.
            client.signal(SIGSTOP)
            try compositor.tell("create_output")
            try Self.waitForOutput("WL-3", of: compositor, isThere: true)
            try outer.tell("[title=WL-2] kill")
            try Self.waitForOutput("WL-2", of: compositor, isThere: false)
            client.signal(SIGCONT)
            try waitFor("the output to be gone", evidence: { client.errorTail }) {
                client.errors.contains("the compositor has no output WL-2; it has WL-3; viewers keep the last frame")
            }
            #expect(try stage.luma() > 225)
            #expect(stage.server.recordings.count == 1, "one broadcast throughout")
            try stage.end(client)
        }
    }

    /// The program's next connection to the compositor captures no other output either.
    @Test(.inItsTurn) func anOutputThatIsGoneWhenTheDaemonComesBack() async throws {
        try await blocking {
            let outer = try VirtualCompositor(width: 640, height: 360)
            let compositor = try VirtualCompositor(width: 640, height: 360, inside: outer)
            try compositor.tell("create_output")
            try Self.waitForOutput("WL-2", of: compositor, isThere: true)
            let stage = try Stage()
            let client = try stage.capture(compositor)
            try waitFor("the first output", evidence: { client.errorTail }) {
                client.errors.contains("capturing output WL-1")
            }
            try outer.tell("[title=WL-1] kill")
            let notice = "the compositor has no output WL-1; it has WL-2; viewers keep the last frame"
            try waitFor("the output to be gone", evidence: { client.errorTail }) { client.errors.contains(notice) }
            try stage.daemon.terminate()
            let daemon = try Daemon(after: stage.daemon)
            try waitFor("the next broadcast", evidence: { client.errorTail + daemon.log }) {
                client.errors.components(separatedBy: notice).count == 3
            }
            let video = try daemon.status()["video"] as? [String: Any]
            #expect(video?["frames_received"] as? Int == 0)
            #expect(!client.errors.contains("capturing output WL-2"))
            try client.stop(SIGTERM)
            try daemon.terminate()
        }
    }

    private static func waitForOutput(_ name: String, of compositor: VirtualCompositor, isThere: Bool) throws {
        try waitFor("\(name) to \(isThere ? "come" : "go")") {
            let list = try ChildProcess.run(
                ProductExecutable.upcastScreen.path, ["--list", "--wayland", compositor.socket])
            return list.contains("\(name) ") == isThere
        }
    }

    /// A compositor that ends and comes back: the broadcast goes on, and shows the new one. The size is the same, so
    /// that memory that the old one had mapped would do if anybody had it.
    @Test(.inItsTurn) func aCompositorThatComesBack() async throws {
        try await blocking {
            let first = try VirtualCompositor(width: 640, height: 360)
            let stage = try Stage()
            let client = try stage.capture(first)
            try stage.waitUntilLive(client)
            try first.end()
            try waitFor("upcast-screen to notice", evidence: { client.errorTail }) {
                client.errors.contains("the Wayland compositor has ended; waiting for it to come back")
            }
            let second = try VirtualCompositor(width: 640, height: 360, after: first)
            #expect(second.socket == first.socket)
            try second.fill("#c08040")
            try waitFor("the new one", evidence: { client.errorTail }) { try stage.luma() > 120 }
            #expect(stage.server.recordings.count == 1, "one broadcast throughout")
            try stage.end(client)
        }
    }

    /// Of several outputs the first is captured, and it is said; another one by its name; and a part of it.
    @Test(.inItsTurn) func severalOutputs() async throws {
        try await blocking {
            let compositor = try VirtualCompositor(width: 640, height: 360)
            try compositor.tell("create_output")
            try compositor.show(Self.picture)
            try compositor.fill("#c08040", output: "HEADLESS-2")
            let list = try ChildProcess.run(
                ProductExecutable.upcastScreen.path, ["--list", "--wayland", compositor.socket])
            #expect(
                list == """
                    MONITOR     AREA           PIXELS   ORIENTATION
                    HEADLESS-1  640x360+0+0    640x360  up
                    HEADLESS-2  640x360+640+0  640x360  up

                    """)
            let stage = try Stage()
            var client = try stage.capture(compositor)
            try waitFor("the first output", evidence: { client.errorTail }) { try Self.isUpright(stage, width: 640) }
            #expect(
                client.errors.contains("only HEADLESS-1 is captured; --monitor chooses another output: HEADLESS-2"))
            try client.stop(SIGINT)
            client = try stage.capture(compositor, ["--monitor", "HEADLESS-2"])
            try waitFor("the second", evidence: { client.errorTail }) { abs(try stage.luma() - 133) < 8 }
            try client.stop(SIGINT)
            // The brightest quarter; and a part of it that is too small for shared memory.
            for area in ["320x180+320+180", "160x90+480+270"] {
                client = try stage.capture(compositor, ["--monitor", "HEADLESS-1", "--area", area])
                try waitFor(area, evidence: { client.errorTail }) {
                    let image = try stage.snapshot()
                    return [(20, 20), (620, 20), (20, 340), (620, 340)].allSatisfy {
                        abs(image.meanLuma(x: $0, y: $1, radius: 6) - 210) < 8
                    }
                }
                #expect(client.errors.contains("capturing \(area) of output HEADLESS-1"))
                if area.hasPrefix("320") { try client.stop(SIGINT) }
            }
            try stage.end(client)
        }
    }

    /// What can never be sent is refused at the start, as on X11.
    @Test(.inItsTurn) func anAreaThatIsTooSmall() async throws {
        try await blocking {
            let compositor = try VirtualCompositor(width: 640, height: 360)
            let stage = try Stage()
            let client = try stage.capture(compositor, ["--area", "15x200+0+0"])
            #expect(client.waitForExit(within: 20) == .code(4))
            #expect(client.errors.contains("is 15x200 pixels, which cannot be sent"), "\(client.errors)")
            #expect(client.errors.split(separator: "\n").count == 1, "\(client.errors)")
            try stage.end()
        }
    }

    /// An output gets so small that hardly anything of the area is left of it, and large again. It is told once.
    @Test(.inItsTurn) func anAreaThatGetsTooSmall() async throws {
        try await blocking {
            let compositor = try VirtualCompositor(width: 640, height: 360)
            try compositor.fill("#c08040")
            let stage = try Stage()
            let client = try stage.capture(compositor, ["--area", "100x100+560+0"])
            try stage.waitUntilLive(client)
            try compositor.tell("output \(VirtualCompositor.output) resolution 568x360")
            try waitFor("the client to notice", evidence: { client.errorTail }) {
                client.errors.contains("is 8x100 pixels, which cannot be sent")
            }
            try compositor.tell("output \(VirtualCompositor.output) resolution 640x360")
            try waitFor("the area to be back", evidence: { client.errorTail }) {
                client.errors.components(separatedBy: "capturing 80x100+560+0").count == 3
            }
            #expect(client.errors.components(separatedBy: "which cannot be sent").count == 2, "\(client.errors)")
            // The server opens it when the first data come.
            try waitFor("a recording") { !stage.server.recordings.isEmpty }
            #expect(stage.server.recordings.count == 1, "one broadcast throughout")
            try stage.end(client)
        }
    }

    /// weston offers none of the two protocols, and this session has no portal.
    @Test(.inItsTurn) func aCompositorThatGivesNoPictures() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("weston")
            let weston = try ChildProcess(
                "weston", ["--backend=headless-backend.so", "--socket=wayland-1"],
                environment: ["XDG_RUNTIME_DIR": folder.path, "WAYLAND_DISPLAY": "", "DISPLAY": ""])
            try waitFor("weston to listen", evidence: { weston.errorTail }) {
                FileManager.default.fileExists(atPath: folder.file("wayland-1"))
            }
            // As in a session.
            let client = try ChildProcess(
                ProductExecutable.upcastScreen.path, [],
                environment: [
                    "XDG_RUNTIME_DIR": folder.path, "WAYLAND_DISPLAY": "wayland-1", "DISPLAY": ":0",
                    "DBUS_SESSION_BUS_ADDRESS": "",
                ])
            #expect(client.waitForExit(within: 20) == .code(4))
            #expect(client.errors.contains("offers neither ext-image-copy-capture nor wlr-screencopy"))
            #expect(client.errors.contains("cannot connect to the D-Bus bus of the session"), "\(client.errors)")
            try weston.stop(SIGTERM)
        }
    }

    /// What cannot be kept is refused at the start.
    @Test func whatIsRefused() throws {
        func message(_ arguments: [String], _ status: Int) throws -> String {
            let client = try ChildProcess(
                ProductExecutable.upcastScreen.path, arguments, environment: ["XDG_RUNTIME_DIR": ""])
            #expect(client.waitForExit(within: 20) == .code(status))
            return client.errors
        }
        for option in [["--hide", "class=KeePassXC"], ["--hide-file", "/dev/null"], ["--hide-notifications"]] {
            let text = try message(["--wayland", "/nowhere"] + option, 64)
            #expect(text.contains("\(option[0]) works on X11 only"))
        }
        #expect(try message(["--wayland", "/nowhere"], 4).contains("cannot connect to the Wayland compositor /nowhere"))
        let lines = try message(["--wayland", "wayland-1"], 4).split(separator: "\n")
        #expect(lines.count == 1 && lines[0].contains("XDG_RUNTIME_DIR does not name the folder"), "\(lines)")
        #expect(try message(["--wayland", "a", "--display", ":0"], 64).contains("exclude each other"))
    }
}
