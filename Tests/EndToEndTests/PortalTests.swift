import Foundation
import MediaCore
import TestSupport
import Testing

/// Promise: where a compositor gives no pictures itself, `upcast-screen` sends what the user shares through the
/// ScreenCast portal, as the user sees it and when it changes; and nothing without the user's permission.
@Suite struct PortalTests {
    /// A desktop, and a broadcast of its screen.
    private struct Broadcast {
        let desktop: VirtualDesktop
        let stage: Stage

        init(without lacking: Set<VirtualDesktop.Part> = []) throws {
            (desktop, stage) = (try VirtualDesktop(width: 640, height: 360, without: lacking), try Stage())
        }

        func client(_ options: [String] = [], logind: VirtualLogind? = nil) throws -> ChildProcess {
            try ChildProcess(
                ProductExecutable.upcastScreen.path, ["--socket", stage.daemon.ingestSocket] + options,
                environment: desktop.environment.merging(logind?.environment ?? [:]) { $1 })
        }

        var snapshot: I420Image { get throws { try stage.snapshot() } }
        func luma(_ x: Int = 320, _ y: Int = 180) throws -> Double { try snapshot.meanLuma(x: x, y: y, radius: 4) }

        func wait(_ what: String, _ client: ChildProcess, until condition: () throws -> Bool) throws {
            try waitFor(what, while: client, evidence: { stage.daemon.log + "\(desktop.dialogue) \(seen)" }) {
                return try condition()
            }
        }

        private var seen: String {
            "\((try? stage.daemon.receivedPictures()) ?? -1) pictures, the last of luma \((try? luma()) ?? -1)"
        }

        func isLive(_ client: ChildProcess) throws {
            try wait("the screen to be live", client) { try stage.daemon.receivedPictures() > 0 }
        }

        func end(_ client: ChildProcess) throws {
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    private static func grey(_ luma: UInt8) -> I420Image {
        let chroma = [UInt8](repeating: 128, count: 320 * 180)
        return I420Image(width: 640, height: 360, y: [UInt8](repeating: luma, count: 640 * 360), u: chroma, v: chroma)
    }

    /// Without options, in a session like GNOME's: what viewers see is what the screen shows.
    @Test(.inItsTurn) func theScreenArrives() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            let scene = ReferenceCanvas.render(
                ReferencePicture(width: 640, height: 360, number: 172).image, width: 640, height: 360, fit: .fit)
            let window = try broadcast.desktop.show(scene)
            let client = try broadcast.client()
            try broadcast.wait("the picture", client) {
                try PictureComparison(try broadcast.snapshot, scene).isSamePicture
            }
            #expect(client.errors.contains("capturing what the desktop shares, 640x360 pixels\n"), "\(client.errors)")
            client.signal(SIGINT)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            var last: I420Image?
            try DecodedVideo.forEachFrame(of: try broadcast.stage.server.finishedRecording()) { last = $0.image }
            let comparison = try PictureComparison(try #require(last), scene)
            #expect(comparison.isSamePicture, "\(comparison)")
            try window.stop(SIGKILL)
            try broadcast.stage.end()
        }
    }

    /// A square that moves: nothing of it stays behind in any of the places that frames lie in.
    @Test(.inItsTurn) func whatChangesInOnePlace() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            let client = try broadcast.client(["--no-pointer"])
            try broadcast.isLive(client)
            let before = try broadcast.stage.daemon.receivedPictures()
            let window = try broadcast.desktop.window("30", width: 640, height: 360)
            let grey = Double(16 + 64 * 219 / 255)
            try broadcast.wait("the square in the middle", client) {
                let image = try broadcast.snapshot
                return image.meanLuma(x: 320, y: 90, radius: 4) > 225
                    && stride(from: 8, to: 292, by: 4).allSatisfy {
                        abs(image.meanLuma(x: $0, y: 90, radius: 2) - grey) < 12
                    }
            }
            #expect(try broadcast.stage.daemon.receivedPictures() - before > 10)
            try window.stop(SIGKILL)
            try broadcast.end(client)
        }
    }

    @Test(.inItsTurn) func aStillScreenCostsNothing() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            let window = try broadcast.desktop.show(Self.grey(60))
            let client = try broadcast.client()
            try broadcast.wait("the first grey", client) { abs(try broadcast.luma() - 60) < 4 }
            // What is counted is what does not come in this time; nothing waits for its end. mutter fades the window
            // in, and the last steps of that look like the end.
            var isStill = false
            for _ in 0..<3 where !isStill {
                let before = try broadcast.stage.daemon.receivedPictures()
                Thread.sleep(forTimeInterval: 2)
                isStill = try broadcast.stage.daemon.receivedPictures() == before
            }
            #expect(isStill)
            let next = try broadcast.desktop.show(Self.grey(140))
            try broadcast.wait("the change", client) { abs(try broadcast.luma() - 140) < 4 }
            try window.stop(SIGKILL)
            try next.stop(SIGKILL)
            try broadcast.end(client)
        }
    }

    /// Frames come no faster than asked for, and the last change is in the last one.
    @Test(.inItsTurn) func theRateIsKept() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            let client = try broadcast.client(["--fps", "2"])
            try broadcast.isLive(client)
            let (before, begin) = (try broadcast.stage.daemon.receivedPictures(), ContinuousClock.now)
            let window = try broadcast.desktop.window("30", width: 640, height: 360)
            try broadcast.wait("the square in the middle", client) { try broadcast.luma(320, 90) > 225 }
            let seconds = (ContinuousClock.now - begin) / .seconds(1)
            let frames = try broadcast.stage.daemon.receivedPictures() - before
            // One at each end.
            #expect(Double(frames) <= seconds * 2 + 2, "\(frames) frames in \(seconds) s")
            try window.stop(SIGKILL)
            try broadcast.end(client)
        }
    }

    /// The stream tells of the pointer beside the pictures: it is drawn where it is, and not where it was.
    @Test(.inItsTurn) func thePointer() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            // mutter shows none before the first move.
            try broadcast.desktop.movePointer(x: 300, y: 40)
            let client = try broadcast.client()
            try broadcast.isLive(client)
            let places = [(100, 100), (400, 200), (112, 108), (620, 20), (330, 300)]
            for (index, (x, y)) in places.enumerated() {
                try broadcast.desktop.movePointer(x: x, y: y)
                try broadcast.wait("the pointer at \(x), \(y)", client) { try broadcast.luma(x + 12, y + 12) > 225 }
                guard index > 0 else { continue }
                // A corner that the new place does not cover.
                let (oldX, oldY) = places[index - 1]
                let image = try broadcast.snapshot
                let rest = image.meanLuma(x: oldX + 4, y: oldY + 4, radius: 2)
                #expect(rest < 120, "something stays at \(oldX), \(oldY)")
            }
            try broadcast.end(client)
        }
    }

    @Test(.inItsTurn) func withoutThePointer() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            try broadcast.desktop.movePointer(x: 100, y: 100)
            let client = try broadcast.client(["--no-pointer"])
            try broadcast.isLive(client)
            try broadcast.desktop.movePointer(x: 400, y: 200)
            let window = try broadcast.desktop.window("30", width: 640, height: 360)
            try broadcast.wait("a change after it has moved", client) { try broadcast.luma(320, 90) > 225 }
            let image = try broadcast.snapshot
            for (x, y) in [(112, 112), (412, 212)] { #expect(image.meanLuma(x: x, y: y, radius: 4) < 90) }
            try window.stop(SIGKILL)
            try broadcast.end(client)
        }
    }

    /// One window: another one is not in the picture, although it covers it.
    @Test(.inItsTurn) func aWindow() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            let window = try broadcast.desktop.show(Self.grey(140))
            // mutter fades the window in, and would share it as it looks at the beginning.
            let monitor = try broadcast.client()
            try broadcast.wait("the window on the screen", monitor) { abs(try broadcast.luma() - 140) < 4 }
            try monitor.stop(SIGINT)
            try broadcast.desktop.answer("window")
            let client = try broadcast.client(["--name", "other"])
            try broadcast.wait("the window", client) { abs(try broadcast.luma() - 140) < 4 }
            let other = try broadcast.desktop.window("30", width: 640, height: 360)
            // mutter sends the window again while it draws the other one over it.
            let before = try broadcast.stage.daemon.receivedPictures()
            try broadcast.wait("pictures beside the other window", client) {
                try broadcast.stage.daemon.receivedPictures() > before
            }
            #expect(abs(try broadcast.luma() - 140) < 4)
            try client.stop(SIGTERM)
            try other.stop(SIGKILL)
            try window.stop(SIGKILL)
            try broadcast.stage.daemon.terminate()
        }
    }

    // MARK: Permission

    /// A user who says no is not asked again, and nothing is broadcast.
    @Test(.inItsTurn) func aUserWhoRefuses() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            try broadcast.desktop.answer("no")
            let client = try broadcast.client()
            #expect(client.waitForExit(within: 30) == .code(5), "\(client.errorTail)")
            #expect(client.errors.contains("the user has not allowed to share a screen"), "\(client.errors)")
            #expect(broadcast.desktop.dialogue == ["asked"])
            #expect(!broadcast.stage.daemon.log.contains("broadcast started"), "\(broadcast.stage.daemon.log)")
            try broadcast.stage.daemon.terminate()
        }
    }

    /// A user who does not answer is waited for, which is said; a signal ends it, and the dialogue with it.
    @Test(.inItsTurn) func aUserWhoDoesNotAnswer() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            try broadcast.desktop.answer("later")
            let client = try broadcast.client()
            try broadcast.wait("the dialogue to be told", client) {
                client.errors.contains("the desktop asks which monitor or window to share; waiting for the answer")
            }
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            try waitFor("the dialogue to be closed", evidence: { "\(broadcast.desktop.dialogue)" }) {
                broadcast.desktop.dialogue == ["asked", "dialogue closed"]
            }
            try broadcast.stage.daemon.terminate()
        }
    }

    /// A permission lasts: it is kept where nobody else can read it, and no log has it.
    @Test(.inItsTurn) func aPermissionThatLasts() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            for start in 0..<3 {
                let client = try broadcast.client()
                try broadcast.isLive(client)
                try client.stop(SIGINT)
                #expect(
                    broadcast.desktop.dialogue == ["asked"] + [String](repeating: "restored", count: start))
                let token = try String(contentsOfFile: broadcast.desktop.token, encoding: .utf8)
                #expect(!token.isEmpty && !client.errors.contains(token) && !broadcast.stage.daemon.log.contains(token))
                let attributes = try FileManager.default.attributesOfItem(atPath: broadcast.desktop.token)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
            }
            // Another name has a choice of its own.
            let other = try broadcast.client(["--name", "other"])
            try broadcast.wait("the second client", other) { broadcast.desktop.dialogue.last == "asked" }
            try other.stop(SIGINT)
            try broadcast.stage.daemon.terminate()
        }
    }

    /// A user who ends the sharing on the desktop: viewers see nothing more of it, and only the user starts it again.
    @Test(.inItsTurn) func aUserWhoEndsIt() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            var client = try broadcast.client()
            try broadcast.isLive(client)
            broadcast.desktop.stopSharing()
            #expect(client.waitForExit(within: 30) == .code(5), "\(client.errorTail)")
            #expect(client.errors.contains("the user has ended the sharing on the desktop"), "\(client.errors)")
            #expect(!FileManager.default.fileExists(atPath: broadcast.desktop.token))
            _ = try broadcast.stage.server.finishedRecording()
            client = try broadcast.client()
            try broadcast.wait("the user to be asked", client) { broadcast.desktop.dialogue == ["asked", "asked"] }
            try client.stop(SIGTERM)
            try broadcast.stage.daemon.terminate()
        }
    }

    /// The same while no daemon runs: the next one gets nothing, whatever happens to the desktop until then.
    @Test(.inItsTurn) func aUserWhoEndsItMeanwhile() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            let client = try broadcast.client()
            try broadcast.isLive(client)
            try broadcast.stage.daemon.terminate()
            try waitFor("upcast-screen to notice", evidence: { client.errorTail }) {
                client.errors.contains("waiting for it to come back")
            }
            broadcast.desktop.stopSharing()
            #expect(client.waitForExit(within: 30) == .code(5), "\(client.errorTail)")
            #expect(client.errors.contains("the user has ended the sharing on the desktop"), "\(client.errors)")
            #expect(!FileManager.default.fileExists(atPath: broadcast.desktop.token))
        }
    }

    // MARK: What ends and comes back

    /// PipeWire, the desktop's portal and the compositor restart: the broadcast goes on, and nobody is asked again.
    @Test(.inItsTurn, arguments: [
        [VirtualDesktop.Part.pipewire, .sessionManager], [.portal], [.compositor, .backend],
    ])
    func partsThatComeBack(parts: [VirtualDesktop.Part]) async throws {
        try await blocking {
            let broadcast = try Broadcast()
            let first = try broadcast.desktop.show(Self.grey(60))
            let client = try broadcast.client()
            try broadcast.wait("the first grey", client) { abs(try broadcast.luma() - 60) < 4 }
            for part in parts.reversed() { try broadcast.desktop.end(part) }
            try broadcast.wait("upcast-screen to notice", client) {
                client.errors.contains("what the desktop shares has ended; waiting for it to come back")
            }
            #expect(abs(try broadcast.luma() - 60) < 4, "viewers keep the last frame")
            for part in parts { try broadcast.desktop.start(part) }
            first.signal(SIGKILL)
            let second = try broadcast.desktop.show(Self.grey(140))
            try broadcast.wait("the new one", client) { abs(try broadcast.luma() - 140) < 4 }
            #expect(broadcast.stage.server.recordings.count == 1, "one broadcast throughout")
            #expect(broadcast.desktop.dialogue.last == "restored", "\(broadcast.desktop.dialogue)")
            try second.stop(SIGKILL)
            try broadcast.end(client)
        }
    }

    /// A desktop that closes its sessions when PipeWire ends, as KDE does: the broadcast goes on. If both have happened
    /// before anybody looks, the user may have closed the session, and is asked.
    @Test(.inItsTurn, arguments: [false, true]) func pipeWireEndsTheSession(isLate: Bool) async throws {
        try await blocking {
            let broadcast = try Broadcast()
            let screen = try broadcast.desktop.show(Self.grey(140))
            let client = try broadcast.client()
            try broadcast.wait("the screen", client) { abs(try broadcast.luma() - 140) < 4 }
            if isLate { client.signal(SIGSTOP) }
            try broadcast.desktop.stopSharing(after: .pipewire)
            if isLate { client.signal(SIGCONT) }
            try broadcast.wait("upcast-screen to notice", client) {
                client.errors.contains("what the desktop shares has ended; waiting for it to come back")
            }
            let before = try broadcast.stage.daemon.receivedPictures()
            try broadcast.desktop.end(.sessionManager)
            for part in [VirtualDesktop.Part.pipewire, .sessionManager] { try broadcast.desktop.start(part) }
            try broadcast.wait("the screen again", client) { try broadcast.stage.daemon.receivedPictures() > before }
            #expect(broadcast.stage.server.recordings.count == 1, "one broadcast throughout")
            // Even if nobody looks late, a busy machine may need longer than a desktop does.
            let ends = isLate ? ["asked"] : ["asked", "restored"]
            #expect(ends.contains(broadcast.desktop.dialogue.last ?? ""), "\(broadcast.desktop.dialogue)")
            try screen.stop(SIGKILL)
            try broadcast.end(client)
        }
    }

    /// A daemon that restarts gets the screen, also one that stands still, and the user is not even asked by a token.
    @Test(.inItsTurn) func aDaemonThatComesBack() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            let window = try broadcast.desktop.show(Self.grey(140))
            let client = try broadcast.client()
            try broadcast.wait("the screen", client) { abs(try broadcast.luma() - 140) < 4 }
            // By then, the first session of the portal is gone.
            try broadcast.desktop.end(.portal)
            try broadcast.wait("upcast-screen to notice", client) { client.errors.contains("shares has ended") }
            try broadcast.desktop.start(.portal)
            try broadcast.wait("another session", client) {
                client.errors.components(separatedBy: "capturing what the desktop shares").count == 3
            }
            try broadcast.stage.daemon.terminate()
            let daemon = try Daemon(after: broadcast.stage.daemon)
            try waitFor("the screen at the next daemon", evidence: { client.errorTail + daemon.log }) {
                try daemon.receivedPictures() > 0
            }
            #expect(broadcast.desktop.dialogue == ["asked", "restored"], "\(client.errors)")
            try client.stop(SIGTERM)
            try window.stop(SIGKILL)
            try daemon.terminate()
        }
    }

    /// A locked session is not captured, and afterwards viewers see the screen again, also one that stands still.
    @Test(.inItsTurn) func aLockedSession() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            let window = try broadcast.desktop.show(Self.grey(140))
            let client = try broadcast.client()
            try broadcast.wait("the screen", client) { abs(try broadcast.luma() - 140) < 4 }
            for _ in 0..<2 {
                try broadcast.desktop.bus.signal("org.gnome.ScreenSaver", "ActiveChanged", "boolean:true")
                try broadcast.wait("the curtain", client) { abs(try broadcast.luma() - 140) > 20 }
                try broadcast.desktop.bus.signal("org.gnome.ScreenSaver", "ActiveChanged", "boolean:false")
                try broadcast.wait("the screen again", client) { abs(try broadcast.luma() - 140) < 4 }
            }
            try window.stop(SIGKILL)
            try broadcast.end(client)
        }
    }

    /// PipeWire restarts before anything of a locked screen was captured.
    @Test(.inItsTurn) func pipeWireComesBackWhileTheSessionIsLocked() async throws {
        try await blocking {
            let (broadcast, logind) = (try Broadcast(), try VirtualLogind())
            try logind.begin("1")
            try logind.set("1", "LockedHint", true)
            let window = try broadcast.desktop.show(Self.grey(140))
            let client = try broadcast.client(logind: logind)
            try broadcast.wait("the curtain", client) { client.errors.contains("the session is locked") }
            // It is back before upcast-screen asks for the second time who has ended the stream.
            for part in [VirtualDesktop.Part.sessionManager, .pipewire] { try broadcast.desktop.end(part) }
            for part in [VirtualDesktop.Part.pipewire, .sessionManager] { try broadcast.desktop.start(part) }
            try broadcast.wait("another session", client) { broadcast.desktop.dialogue.last == "restored" }
            try logind.set("1", "LockedHint", false)
            try broadcast.wait("the screen", client) { abs(try broadcast.luma() - 140) < 4 }
            try window.stop(SIGKILL)
            try broadcast.end(client)
        }
    }

    // MARK: What is missing

    @Test(.inItsTurn) func partsThatAreMissing() async throws {
        try await blocking {
            var desktop = try VirtualDesktop(width: 640, height: 360, without: [.backend, .portal])
            func message(_ options: [String] = []) throws -> String {
                let client = try ChildProcess(
                    ProductExecutable.upcastScreen.path, ["--socket", "/nowhere"] + options,
                    environment: desktop.environment)
                #expect(client.waitForExit(within: 60) == .code(4), "\(client.errorTail)")
                return client.errors
            }
            func says(_ text: String, _ options: [String] = []) throws {
                let said = try message(options)
                #expect(said.contains(text), "\(said)")
            }
            try says("this session has no ScreenCast portal: xdg-desktop-portal does not run and cannot be started")
            try says("and this session has no ScreenCast portal", ["--monitor", "Meta-0"])
            try says("Leave out --wayland", ["--wayland", "wayland-0"])
            try says("Leave out --wayland", ["--list", "--wayland", "wayland-0"])
            try desktop.start(.portal)
            try says("the part for this desktop is missing", ["--portal"])
            desktop = try VirtualDesktop(width: 640, height: 360, without: [.pipewire, .sessionManager])
            try says("PipeWire, which brings the pictures of a shared screen, does not run for this user")
            try says("--monitor cannot be kept. Leave it out", ["--monitor", "Meta-0"])
        }
    }

    @Test(.inItsTurn) func whatIsListed() async throws {
        try await blocking {
            let desktop = try VirtualDesktop(width: 640, height: 360)
            func list(_ options: [String]) throws -> String {
                let client = try ChildProcess(
                    ProductExecutable.upcastScreen.path, ["--list"] + options, environment: desktop.environment)
                try client.waitForSuccess(within: 30)
                return client.output
            }
            let table = """
                PORTAL (--portal)  VERSION  SHARES           POINTER
                ScreenCast         4        monitor, window  hidden, embedded, metadata

                """
            #expect(try list([]) == table)
            #expect(try list(["--portal"]) == table)
            #expect(try list(["--json"]).contains(#""portal":{"version":4,"shares":["monitor","window"],"#))
        }
    }
}
