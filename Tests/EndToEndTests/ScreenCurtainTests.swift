import Foundation
import LinuxSystem
import TestSupport
import Testing

/// Promise: nobody sees a locked session through `upcast-screen`, and after any curtain viewers see the screen again,
/// also one that stands still.
@Suite struct ScreenCurtainTests {
    /// A screen of one colour, a bus of its user, and a broadcast of it.
    private struct Broadcast {
        static let luma = 133.0
        let screen: VirtualScreen
        let bus: SessionBus
        let stage: Stage
        let client: ChildProcess
        private let colour: ChildProcess

        /// - Parameters:
        ///   - options: of `upcast-screen`.
        ///   - shared: the bus; nil for one of its own.
        ///   - logind: nil for none.
        ///   - errors: a file for standard error in place of a pipe that is read.
        init(
            _ options: [String] = [], bus shared: SessionBus? = nil, logind: VirtualLogind? = nil,
            errors: String? = nil
        ) throws {
            screen = try VirtualScreen(width: 640, height: 360)
            colour = try screen.fill("0xc08040")
            (bus, stage) = (try shared ?? SessionBus(), try Stage())
            let command =
                try [
                    ProductExecutable.upcastScreen.path, "--display", screen.display, "--socket",
                    stage.daemon.ingestSocket, "--no-pointer",
                ] + options
            client = try ChildProcess(
                "/bin/sh", ["-c", errors == nil ? "exec \"$@\"" : "exec \"$@\" 2>\"$0\"", errors ?? "sh"] + command,
                environment: bus.environment.merging(logind?.environment ?? [:]) { $1 })
        }

        var isShown: Bool { get throws { abs(try stage.luma() - Self.luma) < 8 } }
        var airState: String? {
            get throws { (try stage.daemon.status()["air"] as? [String: Any])?["state"] as? String }
        }

        var repeatedFrames: Int {
            get throws { (try stage.daemon.status()["video"] as? [String: Any])?["frames_repeated"] as? Int ?? 0 }
        }

        func waitUntilShown(_ what: String) throws {
            try waitFor(what, while: client, evidence: { stage.daemon.log }) {
                return try isShown
            }
        }

        func waitUntilHidden(_ what: String) throws {
            try waitFor(what, while: client, evidence: { stage.daemon.log }) {
                return try airState == "hidden" && !isShown
            }
        }

        func end() throws {
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            try colour.stop(SIGKILL)
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    @Test(.inItsTurn, arguments: ["org.gnome.ScreenSaver", "org.freedesktop.ScreenSaver"])
    func aScreenSaverRaisesTheCurtain(interface: String) async throws {
        try await blocking {
            let broadcast = try Broadcast()
            try broadcast.waitUntilShown("the screen")
            for _ in 0..<2 {
                try broadcast.bus.signal(interface, "ActiveChanged", "boolean:true")
                try broadcast.waitUntilHidden("the curtain")
                try broadcast.bus.signal(interface, "ActiveChanged", "boolean:false")
                try broadcast.waitUntilShown("a screen that has not changed meanwhile")
            }
            #expect(broadcast.client.errors.contains("the screen saver is on"), "\(broadcast.client.errors)")
            try broadcast.end()
        }
    }

    /// A saver that begins is asked whether it is on. One that ends hides nothing any more: nobody else would say so.
    @Test(.inItsTurn) func aScreenSaverThatEnds() async throws {
        try await blocking {
            let broadcast = try Broadcast()
            // By then, the screen savers that are there have been asked.
            try broadcast.waitUntilShown("the screen")
            let saver = try broadcast.bus.serve(
                "org.gnome.ScreenSaver",
                """
                @dbus.service.method("org.gnome.ScreenSaver", out_signature="b")
                def GetActive(self):
                    return True
                """)
            // It says nothing by itself.
            try broadcast.waitUntilHidden("the curtain")
            try saver.stop(SIGKILL)
            try broadcast.waitUntilShown("the screen again")
            try broadcast.end()
        }
    }

    /// The screen is hidden while a session is locked.
    private func expectCurtain(of broadcast: Broadcast, over session: String, _ logind: VirtualLogind) throws {
        try logind.set(session, "LockedHint", true)
        try broadcast.waitUntilHidden("the curtain of session \(session)")
        try logind.set(session, "LockedHint", false)
        try broadcast.waitUntilShown("the screen of session \(session)")
    }

    /// The screen stays hidden when a session ends while it is locked.
    private func endWhileLocked(_ session: String, of broadcast: Broadcast, _ logind: VirtualLogind) throws {
        try logind.set(session, "LockedHint", true)
        try broadcast.waitUntilHidden("the curtain of session \(session)")
        let looks = try logind.looks
        try logind.end(session)
        try waitFor("the program to look for the next session") { try logind.looks > looks }
        // The curtain is sent ten times a second. Whoever took the answer for an unlocked screen would lower it.
        let sent = try broadcast.repeatedFrames
        try waitFor("ten more frames") { try broadcast.repeatedFrames >= sent + 10 }
        #expect(try broadcast.airState == "hidden" && !broadcast.isShown)
    }

    /// The user logs out and in again, while the program goes on: the lock of the next session counts.
    @Test(.inItsTurn) func aSessionThatTakesThePlaceOfAnother() async throws {
        try await blocking {
            let logind = try VirtualLogind()
            try logind.begin("1")
            try logind.set("1", "LockedHint", true)
            let broadcast = try Broadcast(logind: logind)
            try broadcast.waitUntilHidden("the curtain of the beginning")
            try logind.set("1", "LockedHint", false)
            try broadcast.waitUntilShown("the screen")
            // As at a logout.
            try logind.set("1", "Active", false)
            try broadcast.waitUntilHidden("the curtain at the end of the session")
            try logind.end("1")
            try broadcast.waitUntilShown("the screen without a session")
            try logind.begin("2")
            try expectCurtain(of: broadcast, over: "2", logind)
            try broadcast.end()
        }
    }

    /// A desktop of VNC is at no seat, and its session may have no type. It is locked all the same.
    @Test(.inItsTurn) func aDesktopWithoutASeat() async throws {
        try await blocking {
            let logind = try VirtualLogind(own: "1")
            try logind.begin("1", .unspecified)
            try logind.begin("2")
            let broadcast = try Broadcast(logind: logind)
            try broadcast.waitUntilShown("the screen")
            try expectCurtain(of: broadcast, over: "1", logind)
            try broadcast.end()
        }
    }

    /// Over ssh, the program shows the screen of another session. Its own one is never locked.
    @Test(.inItsTurn) func aProgramOfARemoteLogin() async throws {
        try await blocking {
            let logind = try VirtualLogind(own: "1")
            try logind.begin("1", .tty)
            try logind.begin("2")
            let broadcast = try Broadcast(logind: logind)
            try broadcast.waitUntilShown("the screen")
            try expectCurtain(of: broadcast, over: "2", logind)
            // What is left is the login, which was never locked.
            try endWhileLocked("2", of: broadcast, logind)
            try logind.begin("3")
            try broadcast.waitUntilShown("the screen of session 3")
            try expectCurtain(of: broadcast, over: "3", logind)
            try broadcast.end()
        }
    }

    /// The program outlives its own session, of which logind therefore keeps the rest; and a session that ends while it
    /// is locked is not shown.
    @Test(.inItsTurn) func aSessionThatIsClosing() async throws {
        try await blocking {
            let logind = try VirtualLogind(own: "1")
            try logind.begin("1")
            let broadcast = try Broadcast(logind: logind)
            try broadcast.waitUntilShown("the screen")
            try logind.set("1", "Active", false)
            try broadcast.waitUntilHidden("the curtain at the end of the session")
            try logind.close("1")
            try broadcast.waitUntilShown("the screen without a session")
            try logind.begin("2")
            try endWhileLocked("2", of: broadcast, logind)
            try logind.begin("3")
            try broadcast.waitUntilShown("the screen of the last session")
            try broadcast.end()
        }
    }

    /// A stopped terminal or a full pipe takes no message. The curtain does not wait for it.
    @Test(.inItsTurn) func messagesThatNobodyReads() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("messages")
            let pipe = folder.file("pipe")
            guard mkfifo(pipe, 0o600) == 0 else { throw Errno.current }
            let reader = try OwnedDescriptor(checking: open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC))
            let page = [UInt8](repeating: 0, count: 4096)
            while write(reader.raw, page, page.count) > 0 {}
            let broadcast = try Broadcast(errors: pipe)
            try broadcast.waitUntilShown("the screen")
            for _ in 0..<2 {
                try broadcast.bus.signal("org.gnome.ScreenSaver", "ActiveChanged", "boolean:true")
                try broadcast.waitUntilHidden("the curtain")
                try broadcast.bus.signal("org.gnome.ScreenSaver", "ActiveChanged", "boolean:false")
                try broadcast.waitUntilShown("the screen again")
            }
            try broadcast.end()
        }
    }

    /// A bus that takes the connection and does not answer: nobody knows whether the session is locked. The broadcast
    /// begins at once, with the curtain, and shows the screen when the bus answers.
    @Test(.inItsTurn) func aBusThatHangs() async throws {
        try await blocking {
            let bus = try SessionBus()
            try bus.freeze()
            let broadcast = try Broadcast(bus: bus)
            try broadcast.waitUntilHidden("the curtain")
            let texts = [
                "the D-Bus daemon of the session does not answer", "nobody knows whether the session is locked",
            ]
            for text in texts {
                try waitFor("\"\(text)\"", evidence: { broadcast.client.errors }) {
                    broadcast.client.errors.contains(text)
                }
            }
            bus.thaw()
            try broadcast.waitUntilShown("the screen")
            // It is heard as any other.
            try bus.signal("org.gnome.ScreenSaver", "ActiveChanged", "boolean:true")
            try broadcast.waitUntilHidden("the curtain of the screen saver")
            try broadcast.end()
        }
    }

    /// Without the bus, the desktop cannot be asked.
    @Test(.inItsTurn) func aBusThatHangsBelowThePortal() async throws {
        try await blocking {
            let bus = try SessionBus()
            try bus.freeze()
            let client = try ChildProcess(
                ProductExecutable.upcastScreen.path, ["--portal", "--socket", "/nowhere"], environment: bus.environment)
            #expect(client.waitForExit(within: 12) == .code(4), "\(client.errorTail)")
            #expect(client.errors.contains("does not answer: it is stopped, or hangs"), "\(client.errors)")
        }
    }

    /// With the option, nobody asks a bus.
    @Test(.inItsTurn) func aBusThatHangsAndDoesNotMatter() async throws {
        try await blocking {
            let bus = try SessionBus()
            try bus.freeze()
            let broadcast = try Broadcast(["--no-curtain-when-locked"], bus: bus)
            try broadcast.waitUntilShown("the screen")
            try broadcast.end()
        }
    }

    @Test(.inItsTurn) func withoutTheOptionItGoesOn() async throws {
        try await blocking {
            let broadcast = try Broadcast(["--no-curtain-when-locked"])
            let other = try Broadcast(bus: broadcast.bus)
            try broadcast.waitUntilShown("the screen")
            try other.waitUntilShown("the other screen")
            try broadcast.bus.signal("org.gnome.ScreenSaver", "ActiveChanged", "boolean:true")
            // Both hear the same.
            try other.waitUntilHidden("the curtain of the other")
            #expect(try broadcast.isShown)
            try other.end()
            try broadcast.end()
        }
    }

    /// An operator's curtain over a screen that stands still, and over one that changes below it.
    @Test(.inItsTurn, arguments: [false, true]) func afterAnOperatorsCurtain(changes: Bool) async throws {
        try await blocking {
            let broadcast = try Broadcast()
            try broadcast.waitUntilShown("the screen")
            let control = broadcast.stage.daemon.controlSocket
            #expect(try UnixHTTPClient.ask("POST", "/curtain/up", socket: control).status == 200)
            try broadcast.waitUntilHidden("the curtain")
            if changes { try broadcast.screen.fill("black").stop(SIGKILL) }
            #expect(try UnixHTTPClient.ask("POST", "/curtain/down", socket: control).status == 200)
            try broadcast.waitUntilShown("the screen again")
            try broadcast.end()
        }
    }

    /// One application may be seen; another one that comes in front of it never is.
    @Test(.inItsTurn) func onlyWhileOneApplicationIsInFront() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            let manager = try screen.manage(with: "openbox")
            let stage = try Stage()
            let client = try ChildProcess(
                ProductExecutable.upcastScreen.path,
                [
                    "--display", screen.display, "--socket", stage.daemon.ingestSocket, "--no-pointer", "--fps", "60",
                    "--hide-when-unfocused", "class=Chosen",
                ])
            func airState(_ wanted: String, _ what: String) throws {
                try waitFor(what, while: client, evidence: { stage.daemon.log }) {
                    return (try stage.daemon.status()["air"] as? [String: Any])?["state"] as? String == wanted
                }
            }
            try airState("hidden", "the curtain before anything is in front")
            let chosen = try screen.xterm("Chosen", "120x40+0+0")
            for _ in 0..<3 {
                try airState("on_air", "the screen")
                try waitFor("the window", evidence: { client.errorTail }) { try stage.luma() > 200 }
                let other = try screen.xterm("Other", "120x40+0+0", colour: "#ff00ff")
                try airState("hidden", "the curtain")
                try other.stop(SIGTERM)
            }
            try airState("on_air", "the screen at last")
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            try chosen.stop(SIGTERM)
            try manager.stop(SIGKILL)
            var white = 0
            let seen = try MarkedFrames(of: stage.end(afterCurtains: 3), saving: "front") { frame in
                if frame.image.meanLuma > 150 { white += 1 }
                return frame.image.hasMagenta
            }
            print("\(seen) with the other window, \(white) with the chosen one")
            #expect(seen.marked == 0 && white >= 3)
        }
    }
}
