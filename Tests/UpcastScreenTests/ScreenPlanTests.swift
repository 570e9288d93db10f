import ArgumentParser
import MediaCore
import ScreenCapture
import SoundCapture
import Testing
import UpcastClient

@testable import upcast_screen

/// What the command line of upcast-screen means, and what it refuses.
@Suite struct ScreenPlanTests {
    private func plan(_ arguments: String...) throws -> ScreenPlan { try ScreenPlan(UpcastScreen.parse(arguments)) }

    @Test func theDefaults() throws {
        let plan = try plan()
        #expect(plan.settings.area == .display && plan.settings.showsPointer && plan.settings.rate == FrameRate(30))
        #expect(plan.display == nil && plan.duration == nil)
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
        ["--sound", "app="],
    ])
    func mistakes(arguments: [String]) {
        #expect(throws: ScreenPlan.Mistake.self) { try ScreenPlan(UpcastScreen.parse(arguments)) }
    }

    @Test func sound() throws {
        let plan = try plan("--sound", "app=firefox", "--microphone", "default").sound
        #expect(plan.tracks.map(\.wish) == [.application("firefox"), .defaultMicrophone])
        #expect(plan.tracks.map(\.source) == [.app, .microphone] && plan.tracks.map(\.channels) == [2, 1])
        #expect(!plan.isOptional)
        #expect(try self.plan("--sound", "none").sound.tracks.isEmpty)
    }

    @Test func lists() {
        let monitors = [
            ScreenMonitor(name: "HDMI \"1\"", area: .init(x: 0, y: 0, width: 1920, height: 1080), isPrimary: true),
            ScreenMonitor(name: "B", area: .init(x: 1920, y: 10, width: 800, height: 600), isPrimary: false),
        ]
        #expect(
            ScreenList(width: 2720, height: 1080, monitors: monitors).table == """
                MONITOR             AREA
                (display)           2720x1080+0+0
                HDMI "1" (primary)  1920x1080+0+0
                B                   800x600+1920+10
                """)
        #expect(
            ScreenList(width: 2720, height: 1080, monitors: monitors).json
                == #"{"display":{"width":2720,"height":1080},"monitors":[{"name":"HDMI \"1\"","primary":true,"#
                + #""x":0,"y":0,"width":1920,"height":1080},{"name":"B","primary":false,"x":1920,"y":10,"#
                + #""width":800,"height":600}]}"#)
    }
}
