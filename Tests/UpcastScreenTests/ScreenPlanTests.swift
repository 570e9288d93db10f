import ArgumentParser
import Grabbing
import MediaCore
import PortalCapture
import ScreenCapture
import SoundCapture
import Testing
import UpcastClient
import WaylandCapture

@testable import upcast_screen

/// What the command line of upcast-screen means, and what it refuses.
@Suite struct ScreenPlanTests {
    /// Of X11, whatever the session is, unless the arguments name another screen.
    private func plan(_ arguments: String...) throws -> ScreenPlan { try Self.plan(arguments) }

    private static func plan(_ arguments: [String]) throws -> ScreenPlan {
        let isNamed = arguments.contains("--wayland") || arguments.contains("--display")
        return try ScreenPlan(UpcastScreen.parse((isNamed ? [] : ["--display", ":9"]) + arguments))
    }

    @Test func theDefaults() throws {
        let plan = try plan()
        #expect(plan.settings.area == .display && plan.settings.showsPointer && plan.settings.rate == FrameRate(30))
        #expect(plan.duration == nil)
        let setup = plan.setup([.microphone])
        #expect(setup.source == .screen && setup.sendsVideo && !setup.sendsAppAudio && setup.sendsMicrophone)
        #expect(plan.sound.isOptional && plan.sound.tracks.map(\.wish) == [.defaultSink])
    }

    @Test func options() throws {
        #expect(try plan("--monitor", "DP-2").settings.area == .monitor("DP-2"))
        let plan = try plan("--area", "1280x720+40+20", "--fps", "30000/1001", "--no-pointer", "--seconds", "2.5")
        #expect(plan.settings.area == .rectangle(.init(x: 40, y: 20, width: 1280, height: 720)))
        #expect(plan.settings.rate == FrameRate(30000, 1001) && !plan.settings.showsPointer)
        #expect(plan.duration == .milliseconds(2_500))
    }

    @Test(arguments: [
        ["--fps", "0"], ["--fps", "500"], ["--fps", "x"], ["--fps", "30/0"], ["--area", "1280x720"],
        ["--area", "0x720+1+1"], ["--area", "10x10+1+1", "--monitor", "A"], ["--seconds", "0"], ["--json"],
        ["--sound", "app="], ["--window", "class=A", "--monitor", "B"],
        ["--window", "A"], ["--window", ""], ["--window", "1", "--wayland", "w"],
    ])
    func mistakes(arguments: [String]) {
        #expect(throws: ScreenPlan.Mistake.self) { try Self.plan(arguments) }
    }

    /// What is wrong, and what would be right.
    @Test(arguments: [
        (["--hide-file", ""], "--hide-file is empty: name a file with a rule as of --hide on each line"),
        (["--hide-file", "/dev/null", "--hide-file", ""], "--hide-file is empty"),
        (["--monitor", ""], "--monitor is empty: name a monitor that --list shows, such as HDMI-1"),
        (["--microphone", ""], "--microphone is empty: write none, default or the name of a source"),
        (["--sound", ""], "--sound is empty: write auto, default, none, app=NAME"),
        (["--socket", ""], "--socket is empty: name the capture socket of the daemon"),
        (["--name", ""], "--name is empty"), (["--wayland", ""], "--wayland is empty"),
        (["--seconds", "0"], "--seconds 0 is no duration: write more than 0"),
        (["--seconds", "-1"], "--seconds -1 is no duration"), (["--seconds", "nan"], "--seconds nan is no duration"),
        (["--seconds", "-0.5"], "--seconds -0.5 is no duration"),
        (["--area", "100x100-5+0"], "write width, height, left and top in whole pixels, as 1280x720+40+20"),
    ])
    func whatWouldBeRight(arguments: [String], sentence: String) {
        let error = #expect(throws: ScreenPlan.Mistake.self) { try Self.plan(arguments) }
        #expect(error?.description.contains(sentence) == true, "\(String(describing: error))")
    }

    /// The session's compositor is captured, unless an X display is named: that of a Wayland session has no picture.
    @Test func theSourceThatIsMeant() throws {
        func compositor(_ display: String?, _ wayland: String?, _ session: String?) throws -> String? {
            try SourceChoice.compositor(display: display, wayland: wayland, session: session)
        }
        #expect(try compositor(nil, nil, nil) == nil)
        #expect(try compositor(nil, nil, "wayland-1") == "wayland-1")
        #expect(try compositor(":0", nil, "wayland-1") == nil)
        #expect(try compositor(nil, "wayland-2", "wayland-1") == "wayland-2")
        #expect(throws: ScreenPlan.Mistake.self) { try compositor(":0", "wayland-1", nil) }
        #expect(try plan("--display", ":7").source == .x11(display: ":7"))
        let plan = try plan("--wayland", "w", "--monitor", "DP-1", "--area", "64x32+8+4", "--no-pointer")
        #expect(
            plan.source
                == .wayland(
                    socket: "w",
                    WaylandGrabber.Settings(
                        output: "DP-1", part: .init(x: 8, y: 4, width: 64, height: 32), rate: FrameRate(30),
                        showsPointer: false), instead: nil))
    }

    /// The desktop asks the user: no option can choose, and none that promises to hide a window is taken.
    @Test func thePortal() throws {
        let plan = try ScreenPlan(UpcastScreen.parse(["--portal", "--fps", "60", "--no-pointer", "--name", "second"]))
        guard case .portal(let settings) = plan.source else {
            Issue.record("\(plan.source)")
            return
        }
        #expect(settings.rate == FrameRate(60) && !settings.showsPointer)
        #expect(settings.token?.path.hasSuffix("/upcast/portal-second") ?? true)
        for option in [
            ["--monitor", "A"], ["--area", "64x64+0+0"], ["--window", "1"], ["--display", ":0"], ["--wayland", "w"],
            ["--hide", "class=A"], ["--hide-file", "/dev/null"], ["--hide-notifications"],
            ["--hide-when-unfocused", "class=A"],
        ] {
            #expect(throws: ScreenPlan.Mistake.self) { try ScreenPlan(UpcastScreen.parse(["--portal"] + option)) }
        }
    }

    @Test func portalLists() {
        var list = ScreenList()
        list.add(PortalFacts(version: 4, sources: [.monitor, .window], pointers: [.hidden, .metadata]))
        #expect(
            list.table == """
                PORTAL (--portal)  VERSION  SHARES           POINTER
                ScreenCast         4        monitor, window  hidden, metadata
                """)
        #expect(
            list.json == #"{"portal":{"version":4,"shares":["monitor","window"],"pointer":["hidden","metadata"]}}"#)
    }

    /// Titles come from other programs: nothing in them acts on the terminal, or looks like another row.
    @Test func titlesAreNoCommands() {
        var list = ScreenList()
        list.add(PortalFacts(version: 4, sources: [], pointers: []))
        var sound = SoundFacts()
        sound.sinks = [.init(index: 1, name: "a\u{1B}[2J\n0x1", description: "b\u{202E}c")]
        list.add(sound)
        #expect(list.table.contains("a?[2J?0x1"))
        #expect(!list.table.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x202E })
    }

    /// No option that promises to hide a window is taken where it cannot be kept.
    @Test(arguments: [["--hide", "class=A"], ["--hide-file", "/dev/null"], ["--hide-notifications"],
        ["--hide-when-unfocused", "class=A"]])
    func rulesOnWayland(option: [String]) {
        #expect(throws: ScreenPlan.Mistake.self) { try ScreenPlan(UpcastScreen.parse(["--wayland", "w"] + option)) }
    }

    @Test func outputLists() {
        let outputs = [
            WaylandOutput(
                id: 1, name: "DP-1", area: .init(x: 0, y: 0, width: 1440, height: 2560), width: 2560, height: 1440,
                transform: .quarter),
            WaylandOutput(
                id: 2, name: "eDP-1", area: .init(x: 1440, y: 0, width: 960, height: 600), width: 1920, height: 1200),
        ]
        var list = ScreenList()
        list.add(outputs)
        #expect(
            list.table == """
                MONITOR  AREA            PIXELS     ORIENTATION
                DP-1     1440x2560+0+0   2560x1440  right
                eDP-1    960x600+1440+0  1920x1200  up
                """)
        var one = ScreenList()
        one.add([outputs[0]])
        #expect(
            one.json
                == #"{"monitors":[{"name":"DP-1","x":0,"y":0,"width":1440,"height":2560,"pixel_width":2560,"#
                + #""pixel_height":1440,"orientation":6}]}"#)
    }

    @Test func soundLists() {
        var sound = SoundFacts()
        sound.defaultSink = "hdmi"
        sound.sinks = [.init(index: 1, name: "hdmi", description: "Built-in"), .init(index: 2, name: "usb")]
        sound.sources = [.init(index: 3, name: "hdmi.monitor", monitorOf: 1)]
        sound.playbacks = [7, 8].map { .init(index: $0, sink: 1, application: "Firefox", binary: "firefox-esr") }
        var list = ScreenList()
        list.add(sound)
        #expect(
            list.table == """
                SINK (--sound)  DESCRIPTION
                hdmi (default)  Built-in
                usb

                PROGRAM (--sound app=)  EXECUTABLE
                Firefox                 firefox-esr
                """)
        #expect(
            list.json
                == #"{"sinks":[{"name":"hdmi","description":"Built-in","default":true},"#
                + #"{"name":"usb","description":"","default":false}],"#
                + #""programs":[{"name":"Firefox","executable":"firefox-esr"}],"microphones":[]}"#)
    }

    @Test func sound() throws {
        let plan = try plan("--sound", "app=firefox", "--microphone", "default").sound
        #expect(plan.tracks.map(\.wish) == [.application("firefox"), .defaultMicrophone])
        #expect(plan.tracks.map(\.source) == [.app, .microphone] && plan.tracks.map(\.channels) == [2, 1])
        #expect(!plan.isOptional)
        #expect(try self.plan("--sound", "none").sound.tracks.isEmpty)
    }

    /// Windows that only take input cannot be captured.
    @Test func windowLists() {
        func window(_ number: UInt32, _ name: String, isInputOnly: Bool) -> WindowFacts {
            WindowFacts(
                place: .init(x: 0, y: 0, width: 100, height: 50), isViewable: true,
                names: [WindowNames(window: number, className: name)], client: number, isInputOnly: isInputOnly)
        }
        var list = ScreenList()
        list.add([window(1, "Shown", isInputOnly: false), window(2, "Unseen", isInputOnly: true)])
        #expect(list.table.contains("Shown") && !list.table.contains("Unseen"))
        #expect(list.json.contains("Shown") && !list.json.contains("Unseen"))
    }

    @Test func lists() {
        let monitors = [
            ScreenMonitor(name: "HDMI \"1\"", area: .init(x: 0, y: 0, width: 1920, height: 1080), isPrimary: true),
            ScreenMonitor(name: "B", area: .init(x: 1920, y: 10, width: 800, height: 600), isPrimary: false),
        ]
        var list = ScreenList()
        list.add(width: 2720, height: 1080, monitors)
        #expect(
            list.table == """
                MONITOR             AREA
                (display)           2720x1080+0+0
                HDMI "1" (primary)  1920x1080+0+0
                B                   800x600+1920+10
                """)
        #expect(
            list.json
                == #"{"display":{"width":2720,"height":1080},"monitors":[{"name":"HDMI \"1\"","primary":true,"#
                + #""x":0,"y":0,"width":1920,"height":1080},{"name":"B","primary":false,"x":1920,"y":10,"#
                + #""width":800,"height":600}]}"#)
    }
}

/// The name of a process, by which rules hide windows.
@Suite struct ProcessNameTests {
    @Test(arguments: [
        ("firefox", "", "firefox"),
        ("gnome-terminal-", "/usr/libexec/gnome-terminal-server\0", "gnome-terminal-server"),
        ("very-long-secre", "/usr/bin/python3\0./very-long-secret.py\0", "very-long-secret.py"),
        ("very-long-secre", "something else\0", nil), ("fifteen-letters", "fifteen-letters\0-v\0", "fifteen-letters"),
    ] as [(String, String, String?)])
    func namesThatTheKernelCuts(name: String, commandLine: String, whole: String?) {
        #expect(ProcessFacts.wholeName(name, commandLine: commandLine) == whole)
    }

    /// In a user namespace, the kernel reports all users that have no number there as 65534.
    @Test func usersThatAreNotKnown() {
        #expect(ProcessFacts.name(ofUser: 0) == "root" && ProcessFacts.name(ofUser: 65_534) == nil)
    }
}
