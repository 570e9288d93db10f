import Foundation
import MediaCore
import SeededRandom
import TestSupport
import Testing

/// Promise: a window that asks to be hidden, or matches a rule, is hidden in every frame: while it moves, grows, comes
/// and goes, with its menus.
@Suite struct SecretWindowTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var client: [String]
        var windows: [String]
        var isHidden = true
        /// A window manager, which puts frames with colours around windows.
        var manager: String?
        var isComposited: Bool { manager == "xfwm4" }
        var testDescription: String { (client + windows + [manager].compactMap { $0 }).joined(separator: " ") }
        var number: Int { client.count + windows.count + (manager.map { 10 * $0.count } ?? 0) }
    }

    private static let cases: [Case] = [
        Case(client: [], windows: []), Case(client: ["--fps", "60"], windows: ["--menus"]),
        Case(client: ["--hide", "class=Secret"], windows: ["--class", "Secret"]),
        // Without a rule they are seen, so that the test can fail.
        Case(client: ["--hide", "class=Other"], windows: ["--class", "Secret"], isHidden: false),
    ]
    private static let managed = [
        Case(client: [], windows: ["--menus"], manager: "openbox"),
        Case(client: ["--fps", "60", "--hide", "class=Secret"], windows: ["--class", "Secret"], manager: "openbox"),
        // Frames that look like menus.
        Case(client: [], windows: ["--menus"], manager: "icewm"),
    ]
    /// A compositing manager: it paints later than windows move. On a busy machine, that is later than places are kept.
    private static let composited = [Case(client: [], windows: ["--menus"], manager: "xfwm4")]
    /// scripts/secret-windows asks for more.
    private static let asked = ProcessInfo.processInfo.environment["UPCAST_WINDOW_STEPS"]

    @Test(.inItsTurn, arguments: cases + managed + (asked == nil ? [] : composited))
    func randomWindows(_ test: Case) async throws {
        try await blocking {
            var times = StepTimes()
            let screen = try VirtualScreen(width: 640, height: 360)
            let manager = try test.manager.map { try screen.manage(with: $0) }
            let background = try screen.fill("white")
            try waitFor("the background", evidence: { background.errorTail }) { try screen.grab().meanLuma > 200 }
            var settings = DaemonSettings()
            settings.video["skip_unchanged"] = "false"
            let stage = try Stage(settings)
            let client = try ChildProcess(
                ProductExecutable.upcastScreen.path,
                ["--display", screen.display, "--socket", stage.daemon.ingestSocket, "--no-pointer"] + test.client)
            try waitFor("the screen to be live", while: client, evidence: { stage.daemon.log }) {
                return stage.daemon.log.contains("broadcast started")
            }
            times.note("start")
            let before = try stage.daemon.receivedPictures()
            var random = SplitMix64(drawnFor: test.testDescription)
            // A manager makes, moves and removes a frame for each step: fewer pictures can be judged. A busy machine
            // makes fewer pictures of the steps, and then there are more of them.
            let (steps, wanted) = test.manager == nil ? ("400", 60) : ("800", 80)
            repeat {
                let windows = try ChildProcess(
                    ProductExecutable.secretWindow.path,
                    [
                        "--seed", "\(random.next() >> 1)", "--pause-us", "8000", "--steps", Self.asked ?? steps,
                    ] + test.windows,
                    environment: ["DISPLAY": screen.display])
                try windows.waitForSuccess(within: 60)
            } while try Self.asked == nil && stage.daemon.receivedPictures() < before + wanted
            times.note("windows")
            // Nothing stays hidden for ever.
            try waitFor("the background again", evidence: { client.errorTail + stage.daemon.log }) {
                try stage.snapshot().meanLuma > 200
            }
            times.note("background")
            try manager?.stop(SIGKILL)
            try background.stop(SIGKILL)
            times.note("background's end")
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            times.note("client's end")
            let recording = try stage.server.finishedRecording()
            times.note("recording's end")
            var (white, open) = (0, 0)
            // Seconds of the recording.
            var (shown, longestGap) = (0.0, 0.0..<0.0)
            let name = test.isHidden ? "secret-\(test.number)" : nil
            let seen = try MarkedFrames(of: [recording], saving: name) { frame in
                let image = frame.image
                let part = image.brightPixels(above: 200) * 100 / image.y.count
                white += part
                if part >= 5 {
                    open += 1
                    if frame.pts - shown > longestGap.upperBound - longestGap.lowerBound {
                        longestGap = shown..<frame.pts
                    }
                    shown = frame.pts
                }
                // Without a manager, nothing else on the screen has a colour.
                return test.manager == nil ? image.isColored : image.hasMagenta
            }
            let share = white / max(seen.frames, 1)
            print(
                "\(test.testDescription): \(seen) with the marker, \(share) % white,",
                "\(open) frames show what is beside the windows")
            // A busy machine leaves out frames.
            #expect(seen.frames > 30)
            // A manager makes, moves and removes a frame for each step, and more is hidden. With one that composites,
            // places stay hidden for a second: perhaps until the last window has gone.
            #expect(
                test.manager == nil ? share > 20 : open >= (test.isComposited ? 1 : 10),
                """
                what is beside the windows is seen; at \(shown) s for the last time, and not at \(longestGap); \
                \(times); \(client.errorTail); \(stage.daemon.log)
                """)
            #expect((seen.marked == 0) == test.isHidden, "\(seen)")
            try stage.end()
        }
    }

    /// A menu stays secret when its window ends before anybody has read it, also if another X client of the process
    /// has made it.
    @Test(.inItsTurn, arguments: [[], ["apart"]]) func menuOfAnUnseenWindow(how: [String]) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let background = try screen.fill("white")
            let stage = try Stage()
            let client = try ChildProcess(
                ProductExecutable.upcastScreen.path,
                ["--display", screen.display, "--socket", stage.daemon.ingestSocket, "--no-pointer"])
            func show(_ isHidden: Bool, _ what: String) throws {
                try waitFor(what, while: client, evidence: { stage.daemon.log }) {
                    return try (stage.luma(x: 130) < 40) == isHidden
                }
            }
            try show(false, "the background")
            let window = try ChildProcess(
                ProductExecutable.secretWindow.path, ["--unseen"] + how,
                environment: ["DISPLAY": screen.display])
            try show(true, "the menu to be hidden")
            try window.stop(SIGKILL)
            try show(false, "the background again")
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            try background.stop(SIGKILL)
            let seen = try MarkedFrames(of: [stage.server.finishedRecording()], saving: "unseen") { $0.image.isColored }
            #expect(seen.marked == 0, "\(seen) show the menu")
            try stage.end()
        }
    }

    /// A compositing manager paints over a window that has gone before there is another picture, and nothing else on
    /// the screen changes: viewers see the place again.
    @Test(.inItsTurn) func aPlaceThatWasPaintedAtOnce() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let manager = try screen.manage(with: "xfwm4")
            let background = try screen.xterm("Plain", "104x26+0+0")
            let stage = try Stage()
            let client = try stage.capture(screen, ["--no-pointer", "--hide", "class=Secret"])
            func shows(_ isHidden: Bool, _ what: String) throws {
                try waitFor(what, while: client, evidence: { stage.daemon.log }) {
                    let luma = try stage.luma()
                    return isHidden ? luma < 40 : luma > 200
                }
            }
            try shows(false, "the background")
            for _ in 0..<3 {
                let window = try screen.xterm("Secret", "90x20+20+20", colour: "#ff00ff")
                try waitFor("the window", evidence: { window.errorTail }) { try screen.grab().hasMagenta }
                try shows(true, "the window to be hidden")
                client.signal(SIGSTOP)
                try window.stop(SIGTERM)
                try waitFor("the manager to paint", evidence: { manager.errorTail }) {
                    let image = try screen.grab()
                    return !image.hasMagenta && image.meanLuma(x: 320, y: 180) > 200
                }
                client.signal(SIGCONT)
                try shows(false, "the background again")
            }
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            for process in [manager, background] { try process.stop(SIGKILL) }
            let seen = try MarkedFrames(of: [stage.server.finishedRecording()], saving: "painted")
            #expect(seen.marked == 0, "\(seen) show the window")
            try stage.end()
        }
    }

    /// A window stops being secret, and nothing on the screen changes: xfwm4, which paints nothing below opaque
    /// windows, is made to paint it, and viewers see it.
    @Test(.inItsTurn) func aWindowThatIsSecretNoMore() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let manager = try screen.manage(with: "xfwm4")
            let window = try screen.xterm("Secret", "90x20+20+20", colour: "#ff00ff")
            try waitFor("the window", evidence: { window.errorTail }) { try screen.grab().hasMagenta }
            let number = try screen.number(of: "Secret")
            func setSecure(_ options: String...) throws {
                _ = try ChildProcess.run("xprop", ["-display", screen.display, "-id", "\(number)"] + options)
            }
            let stage = try Stage()
            let client = try stage.capture(screen, ["--no-pointer"])
            for _ in 0..<2 {
                try setSecure("-f", "_UPCAST_SECURE", "32c", "-set", "_UPCAST_SECURE", "1")
                try waitFor("the window to be hidden", while: client, evidence: { stage.daemon.log }) {
                    try !stage.snapshot().hasMagenta
                }
                try setSecure("-remove", "_UPCAST_SECURE")
                try waitFor("the window to be seen", while: client, evidence: { stage.daemon.log }) {
                    try stage.snapshot().hasMagenta
                }
            }
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            for process in [manager, window] { try process.stop(SIGKILL) }
            try stage.end()
        }
    }

    /// xfwm4 shows a picture of each window to which Alt+Tab switches.
    @Test(.inItsTurn, arguments: [true, false]) func aPreview(isHidden: Bool) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let manager = try screen.manage(with: "xfwm4")
            // In the middle of the screen; the window is in a corner.
            func preview(in image: I420Image) -> Bool {
                image.hasMagenta(columns: 150..<490)
            }
            let plain = try screen.xterm("Plain", "104x26+0+0")
            let stage = try Stage()
            let client = try stage.capture(screen, ["--no-pointer"] + (isHidden ? ["--hide", "class=Secret"] : []))
            func shows(_ what: String, _ isSo: (I420Image) -> Bool) throws {
                try waitFor(what, while: client, evidence: { manager.errorTail }) {
                    return try isSo(stage.snapshot())
                }
            }
            func isLight(_ image: I420Image) -> Bool { image.meanLuma(x: 320, y: 230, radius: 6) > 150 }
            try shows("the background") { isLight($0) }
            let secret = try screen.xterm("Secret", "16x4+0+0", colour: "#ff00ff")
            try waitFor("the window", evidence: { secret.errorTail }) { try screen.grab().hasMagenta }
            try screen.xdotool("keydown", "alt")
            try screen.xdotool("key", "Tab")
            try waitFor("the preview", evidence: { manager.errorTail }) { try preview(in: screen.grab()) }
            if isHidden {
                try shows("the place of the preview") { !isLight($0) }
            } else {
                try shows("the preview") { preview(in: $0) }
            }
            // Longer than what a picture has hidden stays hidden.
            Thread.sleep(forTimeInterval: 0.4)
            try screen.xdotool("keyup", "alt")
            try shows("the background again") { isLight($0) }
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            for process in [plain, secret, manager] { try process.stop(SIGKILL) }
            let seen = try MarkedFrames(of: [stage.server.finishedRecording()], saving: "preview")
            #expect((seen.marked == 0) == isHidden, "\(seen) show the window or its preview")
            try stage.end()
        }
    }

    /// The shape that a secret window gives the pointer is not drawn: not beside it, and not on another window.
    @Test(.inItsTurn, arguments: [[], ["--hide", "class=Secret"], ["--hide", "class=Secret", "--window", "class=Host"]])
    func itsPointer(_ options: [String]) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            // Xvfb's pointer is in the middle.
            let host = try screen.xterm("Host", "104x26+0+0", colour: "#404040")
            let stage = try Stage()
            let client = try stage.capture(screen, options)
            func shows(_ what: String, _ isSo: (I420Image) -> Bool) throws {
                try waitFor(what, while: client, evidence: { stage.daemon.log }) {
                    return try isSo(stage.snapshot())
                }
            }
            try shows("the host") { $0.meanLuma(x: 500, y: 300, radius: 6) > 40 }
            let window = try ChildProcess(
                ProductExecutable.secretWindow.path, ["--cursor", "Secret"], environment: ["DISPLAY": screen.display])
            if options.isEmpty {
                try shows("the pointer") { $0.hasMagenta }
            } else {
                try waitFor("the pointer's shape", evidence: { window.errorTail }) {
                    try screen.grab(withPointer: true).hasMagenta
                }
                try screen.xdotool("mousemove", "450", "260")
                // Its outline is white.
                try shows("the arrow") { $0.maxLuma(x: 460, y: 270, radius: 30) > 150 }
            }
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            for process in [window, host] { try process.stop(SIGKILL) }
            let seen = try MarkedFrames(of: [stage.server.finishedRecording()], saving: "pointer")
            #expect((seen.marked == 0) == !options.isEmpty, "\(seen) show the pointer's shape")
            try stage.end()
        }
    }

    /// What is secret stays secret when the daemon restarts: also if its secret window ends while there is no daemon.
    @Test(.inItsTurn, arguments: [true, false]) func aDaemonThatComesBack(isBefore: Bool) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            _ = try ChildProcess.run("xsetroot", ["-display", screen.display, "-solid", "white"])
            let recorder = try RecordingDaemon()
            let client = try recorder.capture(screen)
            // The menu is from 100 to 160.
            func show(isHidden: Bool) throws {
                try recorder.waitFor("a picture", client) {
                    let picture = try recorder.daemon.snapshot()
                    return picture.meanLuma(x: 30, y: 180, radius: 6) > 200
                        && (picture.meanLuma(x: 130, y: 180, radius: 6) < 40) == isHidden
                }
            }
            try show(isHidden: false)
            func showMenu() throws -> ChildProcess {
                let window = try ChildProcess(
                    ProductExecutable.secretWindow.path, ["--unseen"], environment: ["DISPLAY": screen.display])
                try waitFor("the menu on the screen", evidence: { window.errorTail }) { try screen.grab().hasMagenta }
                return window
            }
            let early = isBefore ? try showMenu() : nil
            if isBefore { try show(isHidden: true) }
            try recorder.end(while: client)
            let window = try early ?? showMenu()
            try recorder.startAgain()
            try show(isHidden: true)
            let recordings = try recorder.recordings(after: client)
            #expect(try screen.grab().hasMagenta)
            try window.stop(SIGKILL)
            #expect(recordings.count == 2, "\(recordings)")
            let seen = try MarkedFrames(of: recordings, saving: "restart") { $0.image.isColored }
            #expect(seen.marked == 0 && seen.frames > 1, "\(seen) show the menu")
        }
    }

    /// The value 2 hides everything, 1 the window, and 0 nothing; rules of a file are those of the option.
    @Test(.inItsTurn) func valuesAndFiles() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let background = try screen.fill("white")
            let folder = try TemporaryDirectory("rules")
            let rules = try folder.write("# what nobody may see\nclass=Hidden  # with a comment\n", to: "rules")
            let stage = try Stage()
            let client = try ChildProcess(
                ProductExecutable.upcastScreen.path,
                [
                    "--display", screen.display, "--socket", stage.daemon.ingestSocket, "--no-pointer", "--hide-file",
                    rules,
                ])
            // Luma in the left window, in the right one, and beside them.
            func shows(_ wanted: [Bool], _ what: String) throws {
                try waitFor(what, while: client, evidence: { stage.daemon.log }) {
                    return try [60, 580, 320].map { try stage.luma(x: $0) > 150 } == wanted
                }
            }
            try shows([true, true, true], "the background")
            let hidden = try screen.xterm("Hidden", "16x20+10+40")
            try shows([false, true, true], "the window of the rule to be hidden")
            let other = try screen.xterm("Other", "16x20+530+40")
            let number = try waitFor("the window to be listed", evidence: { other.errorTail }) {
                let list = try ChildProcess.run(
                    ProductExecutable.upcastScreen.path, ["--display", screen.display, "--list", "--json"])
                let found = try JSONSerialization.jsonObject(with: Data(list.utf8)) as? [String: Any]
                let windows = found?["windows"] as? [[String: Any]] ?? []
                return windows.first { $0["class"] as? String == "Other" }?["number"] as? Int
            }
            for (value, wanted) in [(1, [false, false, true]), (2, [false, false, false]), (0, [false, true, true])] {
                _ = try ChildProcess.run(
                    "xprop",
                    [
                        "-display", screen.display, "-id", "\(number)", "-f", "_UPCAST_SECURE", "32c", "-set",
                        "_UPCAST_SECURE", "\(value)",
                    ])
                try shows(wanted, "the value \(value)")
            }
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            for process in [hidden, other, background] { try process.stop(SIGKILL) }
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }
}
