import Foundation
import TestSupport
import Testing

/// Promise: what the effects of a desktop show of a secret window beside its place is hidden, and only for that time.
@Suite struct DesktopEffectTests {
    /// KWin shows windows on their way to the taskbar and back, and moves them across the screen for another desktop.
    /// Its animations are as slow as users set them, or as a busy machine makes them.
    @Test(.inItsTurn, arguments: [1, 8]) func kwin(slowness: Int) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let manager = try screen.manage(with: "kwin_x11", slowness: slowness)
            try waitFor("the manager", evidence: { manager.errorTail }) {
                try ChildProcess.run("xprop", ["-display", screen.display, "-root", "_NET_SUPPORTING_WM_CHECK"])
                    .contains("window id")
            }
            let plain = try screen.xterm("Plain", "50x14+200+100")
            let secret = try screen.xterm("Secret", "16x4+500+0", colour: "#ff00ff")
            let stage = try Stage()
            let client = try stage.capture(screen, ["--no-pointer", "--hide", "class=Secret"])
            /// Does something and undoes it on its way, and both again without haste, until viewers have seen that
            /// everything was hidden, and the screen has shown the secret window beside its place. Both may be short,
            /// and a busy KWin leaves out the second.
            func expectHidden(_ what: String, _ act: (Bool) throws -> Void) throws {
                var (isMoved, isHidden) = (false, false)
                for attempt in 0..<6 {
                    try act(attempt % 2 == 0)
                    let end = ContinuousClock.now + .seconds(2)
                    var isHiddenNow = false
                    while ContinuousClock.now < end, !(isMoved && isHiddenNow) {
                        isMoved = try isMoved || screen.grab().hasMagenta(columns: 0..<470)
                        isHiddenNow = try isHiddenNow || !stage.showsPlainWindow
                    }
                    isHidden = isHidden || isHiddenNow
                    guard attempt > 0 else { continue }
                    try stage.waitUntil("the screen after \(what)", isLight: true, while: client, manager)
                    if attempt > 1, attempt % 2 == 1, isMoved, isHidden { break }
                }
                let facts = "\(what): the screen has \(isMoved ? "" : "not ")shown the window elsewhere"
                print("\(facts), slowness \(slowness)")
                guard isHidden, isMoved || slowness == 1 else {
                    let evidence = "\(client.errorTail)\(manager.errorTail)"
                    throw TestFailure("\(facts), and was \(isHidden ? "" : "never ")all hidden. \(evidence)")
                }
            }
            try stage.waitUntil("the plain window", isLight: true, while: client, manager)
            try waitFor("the secret window", evidence: { secret.errorTail }) { try screen.grab().hasMagenta }

            let window = try "\(screen.number(of: "Secret"))"
            _ = try ChildProcess.run(
                "xprop",
                [
                    "-display", screen.display, "-id", window, "-f", "_NET_WM_ICON_GEOMETRY", "32c", "-set",
                    "_NET_WM_ICON_GEOMETRY", "20,340,40,10",
                ])
            try expectHidden("the way to the taskbar and back") {
                try screen.xdotool($0 ? "windowminimize" : "windowactivate", window)
            }
            // On all desktops.
            try screen.xdotool("set_num_desktops", "2")
            try screen.xdotool("set_desktop_for_window", "\(screen.number(of: "Plain"))", "-1")
            try expectHidden("a change of the desktop") { try screen.xdotool("set_desktop", $0 ? "1" : "0") }
            // It disappears slowly, too.
            try secret.stop(SIGKILL)
            try waitFor("the secret window to go", while: client) { try !screen.grab().hasMagenta }
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            for process in [plain, manager] { try process.stop(SIGKILL) }
            let seen = try MarkedFrames(of: [stage.server.finishedRecording()], saving: "kwin-\(slowness)")
            #expect(seen.marked == 0, "\(seen) show the window")
            try stage.end()
        }
    }

    /// A manager that hangs in the middle of an animation still shows the window there. It stays hidden until the
    /// manager has gone on.
    @Test(.inItsTurn, arguments: [1200, 2300]) func aManagerThatHangs(milliseconds: Int) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let manager = try screen.manage(with: "kwin_x11", slowness: 8)
            let plain = try screen.xterm("Plain", "50x14+200+100")
            let secret = try screen.xterm("Secret", "16x4+500+0", colour: "#ff00ff")
            let stage = try Stage()
            let client = try stage.capture(screen, ["--no-pointer", "--hide", "class=Secret"])
            func waitUntil(_ what: String, isLight: Bool) throws {
                try stage.waitUntil(what, isLight: isLight, while: client, manager)
            }
            try waitUntil("the plain window", isLight: true)
            try waitFor("the secret window", evidence: { secret.errorTail }) { try screen.grab().hasMagenta }
            let window = try "\(screen.number(of: "Secret"))"
            _ = try ChildProcess.run(
                "xprop",
                [
                    "-display", screen.display, "-id", window, "-f", "_NET_WM_ICON_GEOMETRY", "32c", "-set",
                    "_NET_WM_ICON_GEOMETRY", "20,340,40,10",
                ])
            for act in ["windowminimize", "windowactivate"] {
                let begin = ContinuousClock.now
                try screen.xdotool(act, window)
                try waitUntil("the way to be hidden", isLight: false)
                manager.signal(SIGSTOP)
                // The manager is asked to repaint after 1 s, and again a second later. Its answer to the first request
                // may be prompt.
                while ContinuousClock.now - begin < .milliseconds(milliseconds) {
                    try #expect(!stage.showsPlainWindow, "the manager does not paint")
                }
                manager.signal(SIGCONT)
                try waitUntil("the end of the way", isLight: true)
            }
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            for process in [plain, secret, manager] { try process.stop(SIGKILL) }
            let seen = try MarkedFrames(of: [stage.server.finishedRecording()], saving: "hanging-\(milliseconds)")
            #expect(seen.marked == 0, "\(seen) show the window")
            try stage.end()
        }
    }

    /// xfwm4 zooms the screen around the pointer, and tells nobody.
    @Test(.inItsTurn) func xfwm4Zoom() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let manager = try screen.manage(with: "xfwm4")
            // Beside windows and at the edges of the screen, the wheel changes the desktop.
            let plain = try screen.xterm("Plain", "110x30+0+0")
            try waitFor("the plain window", evidence: { plain.errorTail }) {
                let grab = try screen.grab()
                return grab.meanLuma(x: 630, y: 350, radius: 4) > 150
            }
            let secret = try screen.xterm("Secret", "16x4+500+0", colour: "#ff00ff")
            try waitFor("the secret window", evidence: { secret.errorTail }) { try screen.grab().hasMagenta }
            let stage = try Stage()
            _ = try ChildProcess.run(
                "xprop",
                [
                    "-display", screen.display, "-id", "\(screen.number(of: "Secret"))", "-f", "_UPCAST_SECURE", "32c",
                    "-set", "_UPCAST_SECURE", "1",
                ])
            func showsMark() throws -> Bool { try screen.grab().meanLuma(x: 4, y: 4, radius: 3) < 60 }
            #expect(try !showsMark())
            let client = try stage.capture(screen, ["--no-pointer"])
            func waitUntil(_ what: String, isLight: Bool) throws {
                try stage.waitUntil(what, isLight: isLight, while: client, manager)
            }
            // Before xfwm4 composites, there are no marks.
            try waitFor("the marks", while: client, evidence: { manager.errorTail }) { try showsMark() }
            try waitUntil("the plain window", isLight: true)
            // The second place is in a mark, which the zoom scarcely moves.
            for (x, y) in [(300, 200), (4, 4)] {
                let before = try screen.grab()
                try screen.xdotool("mousemove", "\(x)", "\(y)", "keydown", "alt", "click", "4", "click", "4")
                try waitUntil("the zoom around \(x), \(y)", isLight: false)
                try waitFor("xfwm4 to show the window elsewhere", while: client) {
                    let zoomed = try screen.grab()
                    return zoomed.u != before.u && zoomed.hasMagenta
                }
                if x == 4 {
                    try waitFor("the hint", while: client) {
                        client.errors.contains("because hidden windows may be anywhere: the desktop is zoomed")
                    }
                }
                try screen.xdotool("click", "5", "click", "5", "click", "5", "keyup", "alt")
                try waitUntil("the end of the zoom", isLight: true)
            }
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            try waitFor("the marks to go") { try !showsMark() }
            for process in [plain, secret, manager] { try process.stop(SIGKILL) }
            let seen = try MarkedFrames(of: [stage.server.finishedRecording()], saving: "zoom")
            #expect(seen.marked == 0, "\(seen) show the window")
            try stage.end()
        }
    }

    /// GNOME Shell is asked about its overview. Nothing changes on the screen when the overview ends.
    @Test(.inItsTurn) func gnomeShell() async throws {
        try await blocking {
            let home = try TemporaryDirectory("shell")
            let desktop = try MutterDesktop()
            let (screen, manager) = (desktop.screen, desktop.manager)
            // Its overview is visible while a file is there.
            let shell = try desktop.bus.serve(
                "org.gnome.Shell",
                """
                @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="ss", out_signature="v")
                def Get(self, interface, name):
                    assert (interface, name) == ("org.gnome.Shell", "OverviewActive")
                    if os.path.exists(sys.argv[1] + ".refused"):
                        raise dbus.DBusException("no", name="org.freedesktop.DBus.Error.AccessDenied")
                    return os.path.exists(sys.argv[1])
                """, argument: home.file("overview"))
            // Stands for the picture of the secret window in the overview.
            let picture = try screen.xterm("Picture", "16x4+20+250", colour: "#ff00ff")
            try waitFor("the picture", while: manager) { try screen.grab().hasMagenta }
            let pictureNumber = try "\(screen.number(of: "Picture"))"
            try screen.xdotool("windowunmap", pictureNumber)
            try waitFor("the picture to go", while: manager) { try !screen.grab().hasMagenta }
            let stage = try Stage()
            let client = try desktop.capture(hiding: "class=Secret", for: stage, bus: desktop.bus.environment)
            func waitUntil(_ what: String, isLight: Bool) throws {
                try stage.waitUntil(what, isLight: isLight, while: client, manager, shell)
            }
            try waitUntil("the plain window", isLight: true)
            try home.write("", to: "overview")
            let secret = try screen.xterm("Secret", "16x4+500+0", colour: "#ff00ff")
            try waitUntil("the overview to be hidden", isLight: false)
            // Only then: before the secret window is there, nothing has to be hidden.
            try screen.xdotool("windowmap", pictureNumber)
            try waitFor("the overview", while: manager) { try screen.grab().hasMagenta(columns: 0..<200) }
            try screen.xdotool("windowunmap", pictureNumber)
            try waitFor("the overview to go", while: manager) { try !screen.grab().hasMagenta(columns: 0..<200) }
            try FileManager.default.removeItem(atPath: home.file("overview"))
            try waitUntil("the end of the overview", isLight: true)
            shell.signal(SIGSTOP)
            try screen.xdotool("windowmove", "\(screen.number(of: "Plain"))", "190", "90")
            try waitUntil("what nobody can know", isLight: false)
            shell.signal(SIGCONT)
            try waitUntil("the answer", isLight: true)
            try home.write("", to: "overview.refused")
            try screen.xdotool("windowmove", "\(screen.number(of: "Plain"))", "200", "100")
            try waitUntil("what the shell does not say", isLight: false)
            try FileManager.default.removeItem(atPath: home.file("overview.refused"))
            try waitUntil("the second answer", isLight: true)
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            #expect(!client.errors.contains("this desktop may show hidden windows"), "\(client.errors)")
            for process in [picture, secret, shell] { try process.stop(SIGKILL) }
            try desktop.end()
            let seen = try MarkedFrames(of: [stage.server.finishedRecording()], saving: "shell")
            #expect(seen.marked == 0, "\(seen) show the window")
            try stage.end()
        }
    }

    /// Bug: a bus that hung up passed for a missing one, and GNOME Shell, which may be there, for another desktop.
    @Test(.inItsTurn) func aBusThatHangsUp() async throws {
        try await blocking {
            let home = try TemporaryDirectory("bus")
            let desktop = try MutterDesktop()
            let listener = try ChildProcess(
                "python3",
                [
                    "-c",
                    """
                    import socket, sys
                    listener = socket.socket(socket.AF_UNIX)
                    listener.bind(sys.argv[1])
                    listener.listen()
                    open(sys.argv[1] + ".ready", "w")
                    while True:
                        listener.accept()[0].close()
                    """, home.file("bus"),
                ])
            try waitFor("the listener", while: listener) {
                FileManager.default.fileExists(atPath: home.file("bus.ready"))
            }
            let stage = try Stage()
            let client = try desktop.capture(
                hiding: "class=Secret", for: stage, bus: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(home.file("bus"))"])
            func waitUntil(_ what: String, isLight: Bool) throws {
                try stage.waitUntil(what, isLight: isLight, while: client, desktop.manager)
            }
            try waitUntil("the plain window", isLight: true)
            let secret = try desktop.screen.xterm("Secret", "16x4+500+0", colour: "#ff00ff")
            try waitUntil("what nobody can know", isLight: false)
            try secret.stop(SIGKILL)
            try waitUntil("the end of the secret", isLight: true)
            try stage.end(client)
            try listener.stop(SIGKILL)
            try desktop.end()
        }
    }

    /// A panel shows a preview of the window whose name the pointer is on.
    @Test(.inItsTurn) func aPanelsPreviews() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let manager = try screen.manage(with: "openbox")
            let plain = try screen.xterm("Plain", "50x14+200+100")
            let secret = try screen.xterm("Secret", "16x4+500+0", colour: "#ff00ff")
            for name in ["Plain", "Secret"] { _ = try screen.number(of: name) }
            let folder = try TemporaryDirectory("tint2")
            let settings = try folder.write(
                """
                panel_items = T
                panel_position = bottom center horizontal
                panel_size = 100% 20
                task_maximum_size = 200 20
                task_tooltip = 1
                task_thumbnail = 1
                task_thumbnail_size = 200
                tooltip_show_timeout = 0
                """, to: "tint2rc")
            let panel = try ChildProcess(
                "tint2", ["-c", settings], environment: ["DISPLAY": screen.display, "HOME": folder.path])
            let stage = try Stage()
            let client = try stage.capture(screen, ["--no-pointer", "--hide", "class=Secret"])
            try stage.waitUntil("the plain window", isLight: true, while: client, manager, panel)

            var x = 0
            try waitFor("a preview of the secret window", while: client, evidence: { panel.errorTail }) {
                x = (x + 40) % 400
                try screen.xdotool("mousemove", "\(x + 20)", "350")
                return try screen.grab().hasMagenta(columns: 0..<400)
            }
            let before = try stage.daemon.encodedPictures()
            try waitFor("pictures of it", while: client) { try stage.daemon.encodedPictures() >= before + 10 }
            #expect(try screen.grab().hasMagenta(columns: 0..<400), "the preview is no longer there")
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            for process in [plain, secret, panel, manager] { try process.stop(SIGKILL) }
            let seen = try MarkedFrames(of: [stage.server.finishedRecording()], saving: "panel")
            #expect(seen.marked == 0, "\(seen) show the window")
            try stage.end()
        }
    }

    /// Other desktops on mutter show windows in overviews, and do not tell when.
    @Test(.inItsTurn, arguments: ["class=Secret", nil]) func mutter(rule: String?) async throws {
        try await blocking {
            let desktop = try MutterDesktop()
            let stage = try Stage()
            let client = try desktop.capture(hiding: rule, for: stage)
            let warning = "this desktop may show hidden windows in its overview"
            try waitFor("the picture", while: client, evidence: { desktop.manager.errorTail }) {
                return try stage.snapshot().brightPixels(above: 200) > 20_000
                    && (rule == nil || client.errors.contains(warning))
            }
            try stage.end(client)
            #expect(client.errors.components(separatedBy: warning).count == (rule == nil ? 1 : 2))
            try desktop.end()
        }
    }
}

/// A screen with mutter, a session bus and a light window, titled `Plain`.
private struct MutterDesktop {
    let screen: VirtualScreen
    let bus: SessionBus
    let manager: ChildProcess
    private let plain: ChildProcess

    init() throws {
        screen = try VirtualScreen(width: 640, height: 360)
        bus = try SessionBus(environment: ["DISPLAY": screen.display])
        manager = try ChildProcess(
            "mutter", ["--x11"], environment: ["DISPLAY": screen.display].merging(bus.environment) { $1 })
        plain = try screen.xterm("Plain", "50x14+200+100")
    }

    /// - Parameter bus: the variables that name the bus of the client.
    func capture(hiding rule: String?, for stage: Stage, bus: [String: String] = [:]) throws -> ChildProcess {
        try stage.capture(
            ["--display", screen.display, "--no-pointer"] + (rule.map { ["--hide", $0] } ?? []), environment: bus)
    }

    func end() throws {
        for process in [plain, manager] { try process.stop(SIGKILL) }
    }
}

extension Stage {
    /// Waits until viewers see the light window `Plain`, or no longer.
    ///
    /// - Parameters:
    ///   - client: has to run meanwhile.
    ///   - others: what they said is evidence of a failure.
    fileprivate func waitUntil(
        _ what: String, isLight: Bool, while client: ChildProcess, _ others: ChildProcess...
    ) throws {
        try waitFor(what, while: client, evidence: { others.map(\.errorTail).joined() }) {
            try showsPlainWindow == isLight
        }
    }

    /// Whether viewers see the light window `Plain`, rather than a hidden screen.
    fileprivate var showsPlainWindow: Bool {
        get throws { try snapshot().meanLuma(x: 400, y: 230, radius: 6) > 150 }
    }
}
