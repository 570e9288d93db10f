import Foundation
import TestSupport
import Testing

/// Promise: a secret window hides itself and what belongs to it, and no other window.
@Suite struct WindowFamilyTests {
    private static func family(_ screen: VirtualScreen, _ argument: String) throws -> ChildProcess {
        try ChildProcess(ProductExecutable.windowFamily.path, [argument], environment: ["DISPLAY": screen.display])
    }

    /// Waits until what viewers see around points of the picture is light or dark.
    private static func wait(
        _ stage: Stage, _ client: ChildProcess, _ what: String, _ points: [(x: Int, y: Int, isLight: Bool)]
    ) throws {
        try waitFor(what, while: client, evidence: { stage.daemon.log }) {
            let picture = try stage.snapshot()
            return points.allSatisfy { (picture.meanLuma(x: $0.x, y: $0.y, radius: 6) > 150) == $0.isLight }
        }
    }

    /// icewm's frames are override-redirect windows with a name, as menus are: another window is seen beside a secret
    /// one, and after it has gone.
    @Test(.inItsTurn) func framesThatLookLikeMenus() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let manager = try screen.manage(with: "icewm")
            let stage = try Stage()
            let client = try stage.capture(screen, ["--no-pointer", "--hide", "class=Hidden"])
            let other = try screen.xterm("Other", "20x6+380+60")
            try Self.wait(stage, client, "the other window", [(420, 110, true)])
            // At the same moment, so that what is hidden with it cannot have been seen before.
            let hidden = try screen.xterm("Hidden", "20x6+60+60")
            try waitFor("the hidden window on the screen", evidence: { hidden.errorTail }) {
                try screen.grab().meanLuma(x: 100, y: 110, radius: 6) > 150
            }
            let late = try screen.xterm("Other", "20x6+380+220")
            try Self.wait(
                stage, client, "both other windows", [(100, 110, false), (420, 110, true), (420, 260, true)])
            try hidden.stop(SIGTERM)
            let last = try screen.xterm("Other", "20x6+60+220")
            try Self.wait(
                stage, client, "the last window", [(420, 110, true), (420, 260, true), (100, 260, true)])
            for process in [other, late, last, manager] { try process.stop(SIGKILL) }
            try stage.end(client)
        }
    }

    /// Of two windows of one program, the second one over the first, viewers see the chosen one.
    @Test(.inItsTurn, arguments: [nil, "icewm"]) func oneOfTwoWindows(manager name: String?) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let manager = try name.map { try screen.manage(with: $0) }
            let stage = try Stage()
            let client = try stage.capture(screen, ["--no-pointer", "--window", "class=Main"])
            let pair = try Self.family(screen, "--pair")
            try waitFor("both windows on the screen", evidence: { pair.errorTail }) {
                try screen.grab().hasMagenta
            }
            // The second one is where the middle of the first one is.
            try Self.wait(stage, client, "the first window", [(320, 180, true), (60, 180, true)])
            try pair.stop(SIGKILL)
            try manager?.stop(SIGKILL)
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            let seen = try MarkedFrames(of: [stage.server.finishedRecording()], saving: "pair")
            #expect(seen.marked == 0, "\(seen) show the other window")
            try stage.end()
        }
    }

    /// What the screen showed where a window is now is not sent with it: until its program has drawn all of it at the
    /// start of the capture, after it got another size, and after it was mapped again.
    @Test(.inItsTurn, arguments: ["all", "half", "inner", "shape"])
    func aWindowThatDrawsLate(part: String) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let stage = try Stage()
            let client = try stage.capture(screen, ["--no-pointer", "--window", "class=Main"])
            try waitFor("the client to wait", evidence: { client.errorTail }) {
                client.errors.contains("the window is not on the screen")
            }
            let window = try ChildProcess(
                ProductExecutable.windowFamily.path, ["--late", part], environment: ["DISPLAY": screen.display])
            #expect(window.waitForExit(within: 30) == .code(0), "\(window.errorTail)")
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            var (light, isSmall) = (0, false)
            let seen = try MarkedFrames(of: [stage.server.finishedRecording()], saving: "late-\(part)") { frame in
                let isLight = frame.image.meanLuma(x: 320, y: 60, radius: 6) > 200
                if isLight { light += 1 }
                // The last size has wider bars at its sides than the first one.
                isSmall = isLight && frame.image.meanLuma(x: 24, y: 60, radius: 2) < 60
                return frame.image.hasMagenta
            }
            #expect(seen.marked == 0 && light > 2, "\(seen) are marked; \(light) show the window")
            let sizes = ["200x120", "300x200", "160x100"]
            #expect(sizes.allSatisfy { client.errors.contains($0) }, "\(client.errorTail)")
            #expect(part != "all" || isSmall, "the last frame shows the last size")
            try stage.end()
        }
    }

    struct Bare: Sendable, CustomTestStringConvertible {
        var how: String
        var isHidden = true
        var testDescription: String { how + (isHidden ? "" : ", not hidden") }
    }

    /// A window without a background shows what was in its place. It takes nothing of a hidden window along, and a line
    /// that it draws uncovers nothing.
    @Test(
        .inItsTurn,
        arguments: ["map", "raise", "resize", "hide"].map { Bare(how: $0) } + [Bare(how: "map", isHidden: false)])
    func aWindowWithoutABackground(_ test: Bare) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let background = try screen.fill("white")
            let stage = try Stage()
            let client = try stage.capture(
                screen, ["--no-pointer", "--fps", "60", "--hide", test.isHidden ? "class=Other" : "class=None"])
            try Self.wait(stage, client, "the background", [(320, 300, true)])
            let windows = try ChildProcess(
                ProductExecutable.windowFamily.path, ["--bare", test.how], environment: ["DISPLAY": screen.display])
            #expect(windows.waitForExit(within: 30) == .code(0), "\(windows.errorTail)")
            try Self.wait(stage, client, "the background again", [(320, 300, true), (150, 110, true), (450, 240, true)])
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            try background.stop(SIGKILL)
            let seen = try MarkedFrames(
                of: [stage.server.finishedRecording()], saving: test.isHidden ? "bare-\(test.how)" : nil
            ) { $0.image.isColored }
            #expect((seen.marked == 0) == test.isHidden && seen.frames > 20, "\(seen)")
            try stage.end()
        }
    }

    /// A window whose inner windows come and go a thousand times a second is unknown. Others are seen, and the client
    /// hears that it has to end.
    @Test(.inItsTurn, arguments: [false, true]) func aWindowThatChangesAllTheTime(isAlone: Bool) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let stage = try Stage()
            let churn = try Self.family(screen, "--churn")
            let client = try stage.capture(screen, ["--no-pointer"] + (isAlone ? ["--window", "class=Other"] : []))
            let other = try screen.xterm("Other", "20x6+380+60")
            let point = isAlone ? (x: 320, y: 180, isLight: true) : (x: 420, y: 110, isLight: true)
            try Self.wait(stage, client, "the other window", [point])
            try other.stop(SIGTERM)
            let late = try screen.xterm("Other", "20x6+380+60")
            try Self.wait(stage, client, "a window that comes later", [point])
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            for process in [churn, late] { try process.stop(SIGKILL) }
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }
}
