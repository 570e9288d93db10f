import Foundation
import TestSupport
import Testing

/// A screen that `upcast-screen` sends to the stage's daemon, and what viewers see of it.
extension Stage {
    func capture(_ screen: VirtualScreen, _ options: [String] = []) throws -> ChildProcess {
        try capture(["--display", screen.display] + options)
    }

    func capture(_ compositor: VirtualCompositor, _ options: [String] = []) throws -> ChildProcess {
        try capture(["--wayland", compositor.socket] + options)
    }

    func capture(_ options: [String], environment: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(
            ProductExecutable.upcastScreen.path, options + ["--socket", daemon.ingestSocket], environment: environment)
    }

    /// Waits until viewers see a colour that covers a screen, and then that it has gone.
    ///
    /// - Parameter size: that of the screen now; nil for that of its start.
    func expectChanges(
        of screen: VirtualScreen, size: (width: Int, height: Int)? = nil, _ client: ChildProcess
    ) throws {
        let colour = try screen.fill("0xc08040", size: size)
        try waitFor("the colour", while: client, evidence: { client.errorTail }) {
            let picture = try self.snapshot()
            return [10, 200, 630].allSatisfy { abs(picture.meanLuma(x: $0, y: 180, radius: 6) - 133) < 8 }
        }
        try colour.stop(SIGKILL)
        try waitFor("black again", while: client, evidence: { client.errorTail }) { try self.luma(x: 200) < 30 }
    }

    func waitUntilLive(_ client: ChildProcess) throws {
        try waitFor("the screen to be live", while: client, evidence: { self.daemon.log }) {
            return try self.daemon.receivedPictures() > 0
        }
    }

    /// What viewers see now; black before they see anything.
    func snapshot() throws -> I420Image { try daemon.snapshot() }

    /// Of what viewers see now, in the middle of its height.
    func luma(x: Int = 320) throws -> Double { try snapshot().meanLuma(x: x, y: 180, radius: 6) }

    /// Ends the broadcast and the stage.
    func end(_ client: ChildProcess) throws {
        client.signal(SIGTERM)
        #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
        _ = try server.finishedRecording()
        try end()
    }
}

extension Daemon {
    /// What viewers see now; black before they see anything.
    func snapshot() throws -> I420Image {
        let answer = try UnixHTTPClient.get("/snapshot.jpg", socket: controlSocket)
        guard answer.status == 200 else {
            let black = [UInt8](repeating: 0, count: I420Image.byteCount(width: 640, height: 360))
            return I420Image(width: 640, height: 360, bytes: black)
        }
        let folder = try TemporaryDirectory("snapshot")
        try Data(answer.bytes).write(to: URL(filePath: folder.file("a.jpg")))
        _ = try ChildProcess.run(
            "ffmpeg",
            [
                "-nostdin", "-v", "error", "-i", folder.file("a.jpg"), "-vf", VirtualScreen.toVideoRange,
                "-f", "rawvideo", folder.file("a.raw"),
            ])
        return I420Image(
            width: 640, height: 360, bytes: [UInt8](try Data(contentsOf: URL(filePath: folder.file("a.raw")))))
    }
}

extension VirtualScreen {
    /// A window of one colour, which draws nothing as long as nothing is asked for.
    ///
    /// - Parameters:
    ///   - name: its class.
    ///   - geometry: in characters, with its place; for example `80x24+10+20`.
    func xterm(_ name: String, _ geometry: String, colour: String = "white") throws -> ChildProcess {
        try ChildProcess(
            "xterm",
            ["-display", display, "-class", name, "-bg", colour, "+sb", "-geometry", geometry, "-e", "sleep 600"])
    }

    /// What a user does, with XTEST, or asks the window manager to do. Returns what xdotool writes.
    @discardableResult func xdotool(_ arguments: String...) throws -> String {
        let process = try ChildProcess("xdotool", arguments, environment: ["DISPLAY": display])
        try process.waitForSuccess(within: 20)
        return process.output
    }

    /// The number of the window of a class, once it is on the screen.
    func number(of name: String) throws -> UInt32 {
        let found = try xdotool("search", "--sync", "--onlyvisible", "--class", "^\(name)$")
        return try #require(UInt32(found.split(separator: "\n").last ?? ""), "\(found)")
    }
}
