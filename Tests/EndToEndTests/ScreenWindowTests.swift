import Foundation
import TestSupport
import Testing

/// Promise: `upcast-screen --window` sends one window with its menus, wherever it is and whatever covers it, and
/// nothing else.
@Suite struct ScreenWindowTests {
    private static func start(
        _ screen: VirtualScreen, _ stage: Stage, window: String = "class=Chosen"
    ) throws -> ChildProcess {
        try ChildProcess(
            ProductExecutable.upcastScreen.path,
            [
                "--display", screen.display, "--socket", stage.daemon.ingestSocket, "--no-pointer", "--window",
                window,
            ])
    }

    /// Under a window that covers it, after it was made smaller by the manager's hand, and after it has come back.
    @Test(.inItsTurn, arguments: [nil, "openbox"]) func aCoveredWindow(manager name: String?) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let manager = try name.map { try screen.manage(with: $0) }
            let stage = try Stage()
            let client = try Self.start(screen, stage)
            try waitFor("the client to wait", evidence: { client.errorTail }) {
                client.errors.contains("the window is not on the screen")
            }
            func shows(_ what: String) throws {
                try waitFor(what, while: client, evidence: { stage.daemon.log }) {
                    return try stage.luma() > 200
                }
            }
            let chosen = try screen.xterm("Chosen", "40x12+100+80")
            try shows("the window")
            let other = try screen.xterm("Other", "120x40+0+0", colour: "#ff00ff")
            try waitFor("the window to be covered", evidence: { other.errorTail }) {
                let image = try screen.grab()
                return image.hasMagenta && image.meanLuma(x: 200, y: 140) < 180
            }
            try chosen.stop(SIGTERM)
            try waitFor("its end to be noticed", evidence: { client.errorTail }) {
                client.errors.components(separatedBy: "the window is not on the screen").count == 3
            }
            // A window of another size, which is covered from the beginning without a manager.
            let again = try screen.xterm("Chosen", "60x20+20+20")
            try waitFor("the second window", evidence: { client.errorTail }) {
                client.errors.components(separatedBy: "capturing the window").count == 3
            }
            try shows("the second window")
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            for process in [again, other] { try process.stop(SIGTERM) }
            try manager?.stop(SIGKILL)
            let seen = try MarkedFrames(of: [stage.server.finishedRecording()], saving: "window")
            #expect(seen.marked == 0 && seen.frames > 2, "\(seen) show the other window")
            try stage.end()
        }
    }

    /// openbox unmaps a minimized window before its frame, which is then empty.
    @Test(.inItsTurn) func aMinimizedWindow() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let manager = try screen.manage(with: "openbox")
            let chosen = try screen.xterm("Chosen", "40x12+100+80")
            let stage = try Stage()
            let client = try Self.start(screen, stage)
            func count(_ text: String) -> Int { client.errors.components(separatedBy: text).count }
            func shows(_ what: String) throws {
                try waitFor(what, while: client, evidence: { stage.daemon.log }) { return try stage.luma() > 200 }
            }
            try shows("the window")
            let window = try "\(screen.number(of: "Chosen"))"
            for _ in 0..<3 {
                let (absent, there) = ("the window is not on the screen", "capturing the window")
                let (gone, back) = (count(absent), count(there))
                try screen.xdotool("windowminimize", window)
                try waitFor("it to be minimized", while: client) { count(absent) > gone }
                // Four pictures a second are repeated, and there is a new snapshot each second.
                let first = try stage.daemon.encodedPictures()
                try waitFor("repeated pictures", while: client) {
                    try stage.daemon.encodedPictures() > first + 5
                }
                #expect(try stage.luma() > 200, "viewers see an empty frame")
                try screen.xdotool("windowactivate", window)
                try waitFor("it to come back", while: client) { count(there) > back }
                try shows("the window again")
            }
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            for process in [chosen, manager] { try process.stop(SIGKILL) }
            try stage.end()
        }
    }

    /// A number is that of one window. Another one that gets it is not meant, also while there is no daemon.
    @Test(.inItsTurn, arguments: [true, false]) func aWindowByItsNumber(hasDaemon: Bool) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let stage = try Stage()
            let chosen = try screen.xterm("Chosen", "40x12+100+80")
            let number = try screen.number(of: "Chosen")
            let client = try Self.start(screen, stage, window: "0x" + String(number, radix: 16))
            try waitFor("the window", while: client, evidence: { stage.daemon.log }) {
                return try stage.luma() > 200
            }
            if !hasDaemon {
                #expect(try stage.daemon.terminate() == .code(0), "\(stage.daemon.process.errorTail)")
                try waitFor("the client to notice", evidence: { client.errorTail }) {
                    client.errors.contains("waiting for it to come back")
                }
            }
            try chosen.stop(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(4), "\(client.errorTail)")
            #expect(client.errorTail.contains("there is no window 0x\(String(number, radix: 16))"))
            guard hasDaemon else { return }
            let again = try Self.start(screen, stage, window: "\(number)")
            #expect(again.waitForExit(within: 20) == .code(4), "\(again.errorTail)")
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    /// A window that gets the number of the chosen one while there is no daemon is not taken for it.
    @Test(.inItsTurn) func anotherTakesItsNumber() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let recorder = try RecordingDaemon()
            let chosen = try screen.xterm("Chosen", "40x12+100+80")
            let number = try screen.number(of: "Chosen")
            let client = try recorder.capture(screen, ["--window", "class=Chosen"])
            func shows(_ what: String) throws {
                try recorder.waitFor(what, client) {
                    try recorder.daemon.snapshot().meanLuma(x: 320, y: 180, radius: 6) > 200
                }
            }
            try shows("the window")
            try recorder.end(while: client)
            try chosen.stop(SIGTERM)
            // The X server numbers windows by the place of their client in its list, which may be another one at first.
            let other = try waitFor("a window with its number", evidence: { "0x" + String(number, radix: 16) }) {
                let other = try screen.xterm("Other", "40x12+100+80", colour: "#ff00ff")
                if try screen.number(of: "Other") == number { return ChildProcess?.some(other) }
                try other.stop(SIGTERM)
                return nil
            }
            try recorder.startAgain()
            try recorder.waitFor("the client to look for the window", client) {
                client.errors.contains("the window is not on the screen")
            }
            let again = try screen.xterm("Chosen", "40x12+20+20")
            try shows("the window again")
            let recordings = try recorder.recordings(after: client)
            for process in [again, other] { try process.stop(SIGTERM) }
            let seen = try MarkedFrames(of: recordings, saving: "number")
            #expect(seen.marked == 0 && seen.frames > 1, "\(seen) show the other window")
        }
    }

    /// A menu of the window's process is in the picture where it is on the screen; one of another process at the same
    /// place never is.
    @Test(.inItsTurn) func itsMenus() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let stage = try Stage()
            let window = try ChildProcess(
                ProductExecutable.secretWindow.path, ["--popup", "Chosen"], environment: ["DISPLAY": screen.display])
            let other = try ChildProcess(
                ProductExecutable.secretWindow.path, ["--popup", "Other", "stay"],
                environment: ["DISPLAY": screen.display])
            let client = try Self.start(screen, stage)
            func marker(_ isThere: Bool) throws {
                try waitFor("the menu to \(isThere ? "come" : "go")", while: client) {
                    // The canvas is 640x360, the window 200x120: the menu is from 200 to 380 and from 120 to 240. Its
                    // border is not in the picture.
                    let picture = try stage.snapshot()
                    return [(188, 235), (212, isThere ? 78 : 235), (368, isThere ? 78 : 235), (392, 235)]
                        .allSatisfy { abs(picture.meanLuma(x: $0, y: 180, radius: 6) - $1) < 20 }
                }
            }
            for _ in 0..<2 {
                try marker(true)
                try marker(false)
            }
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            for process in [window, other] { try process.stop(SIGKILL) }
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }
}
