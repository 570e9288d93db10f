import Foundation
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// Promise: a display server that hangs is named to the user, and keeps no program from ending.
@Suite struct FrozenScreenTests {
    private static let silence = "has not answered for 3 s"

    /// A client whose end is timed. ThreadSanitizer would let it wait for a second, in which its threads may race.
    private func capture(_ stage: Stage, _ options: [String]) throws -> ChildProcess {
        let given = ProcessInfo.processInfo.environment["TSAN_OPTIONS"].map { $0 + ":" } ?? ""
        return try stage.capture(options, environment: ["TSAN_OPTIONS": given + "atexit_sleep_ms=0"])
    }

    /// How long a client takes to end in good order.
    private func secondsToEnd(_ client: ChildProcess) -> Double {
        let clock = MonotonicClock()
        let begin = clock.now()
        client.signal(SIGTERM)
        #expect(client.waitForExit(within: 40) == .code(0), "\(client.errorTail)")
        return Double((clock.now() - begin).milliseconds) / 1000
    }

    private func waitForSilence(_ client: ChildProcess, times: Int = 1) throws {
        try waitFor("the user to be told", while: client) {
            return client.errors.components(separatedBy: Self.silence).count > times
        }
    }

    @Test(.inItsTurn) func theList() async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            screen.signal(SIGSTOP)
            defer { screen.signal(SIGCONT) }
            let list = try ChildProcess(ProductExecutable.upcastScreen.path, ["--list", "--display", screen.display])
            #expect(list.waitForExit(within: 10) == .code(4), "\(list.errorTail)")
            #expect(list.errors.contains("the X server \(screen.display) \(Self.silence)"), "\(list.errors)")
            #expect(list.output.isEmpty)
        }
    }

    /// Bug: nothing was said, and a signal that a shell has its background programs ignore was lost.
    @Test(.inItsTurn) func theStart() async throws {
        try await blocking {
            let (screen, stage) = (try VirtualScreen(width: 640, height: 360), try Stage())
            screen.signal(SIGSTOP)
            defer { screen.signal(SIGCONT) }
            let first = try capture(stage, ["--display", screen.display])
            try waitForSilence(first)
            #expect(secondsToEnd(first) < 2)
            // It begins when the server answers.
            let second = try stage.capture(screen)
            try waitForSilence(second)
            screen.signal(SIGCONT)
            try stage.waitUntilLive(second)
            #expect(second.errors.contains("the X server \(screen.display) answers again"), "\(second.errors)")
            try stage.end(second)
        }
    }

    /// A server stops in the middle of a broadcast, answers again, and stops once more.
    ///
    /// - Parameters:
    ///   - name: of the server.
    ///   - causes: why it may not answer, as the user is told.
    ///   - hint: ends that message.
    ///   - signal: sends it one.
    ///   - fill: makes its screen white; returns a program that keeps it so, if there is one.
    private func stopInTheMiddle(
        _ name: String, _ options: [String], causes: String, hint: String = "", signal: (CInt) -> Void,
        fill: () throws -> ChildProcess?
    ) throws {
        let stage = try Stage()
        let client = try capture(stage, options)
        try stage.waitUntilLive(client)
        signal(SIGSTOP)
        defer { signal(SIGCONT) }
        try waitForSilence(client)
        let message = "\(name) \(Self.silence): \(causes); viewers keep the last frame until it answers\(hint)\n"
        #expect(client.errors.contains("upcast-screen: " + message), "\(client.errors)")
        signal(SIGCONT)
        try waitFor("the server to be back", evidence: { client.errorTail }) {
            client.errors.contains("\(name) answers again")
        }
        let before = try stage.daemon.receivedPictures()
        let change = try fill()
        try waitFor("the next picture", evidence: { client.errorTail }) { try stage.daemon.receivedPictures() > before }
        try change?.stop(SIGKILL)
        signal(SIGSTOP)
        try waitForSilence(client, times: 2)
        #expect(secondsToEnd(client) < 2)
        _ = try stage.server.finishedRecording()
        try stage.end()
    }

    /// Also of a screen that nobody asks for its pointer.
    @Test(.inItsTurn, arguments: [[], ["--no-pointer"]]) func theMiddle(options: [String]) async throws {
        try await blocking {
            let screen = try VirtualScreen(width: 640, height: 360)
            try stopInTheMiddle(
                "the X server \(screen.display)", ["--display", screen.display] + options,
                causes: "it is stopped, or hangs, or a program has grabbed it",
                hint: " (xset -display \(screen.display) q asks it, too)", signal: screen.signal,
                fill: { try screen.fill("white") })
        }
    }

    /// Bug: a Wayland compositor that hangs looked like a screen that stands still.
    @Test(.inItsTurn) func theCompositor() async throws {
        try await blocking {
            let compositor = try VirtualCompositor(width: 640, height: 360)
            try stopInTheMiddle(
                "the Wayland compositor \(compositor.socket)", ["--wayland", compositor.socket],
                causes: "it is stopped, or hangs", signal: compositor.signal
            ) {
                try compositor.fill("#ffffff")
                return nil
            }
        }
    }

    /// Bug: the program waited for ever for the display, and took no notice of signals.
    @Test(.inItsTurn) func theDaemonEndsMeanwhile() async throws {
        try await blocking {
            let (screen, stage) = (try VirtualScreen(width: 640, height: 360), try Stage())
            let client = try capture(stage, ["--display", screen.display])
            try stage.waitUntilLive(client)
            screen.signal(SIGSTOP)
            defer { screen.signal(SIGCONT) }
            try waitForSilence(client)
            try stage.end()
            #expect(secondsToEnd(client) < 2)
        }
    }

    /// A server that ends is not one that answers.
    @Test(.inItsTurn) func theServerEndsMeanwhile() async throws {
        try await blocking {
            let (screen, stage) = (try VirtualScreen(width: 640, height: 360), try Stage())
            let client = try stage.capture(screen)
            try stage.waitUntilLive(client)
            screen.signal(SIGSTOP)
            try waitForSilence(client)
            screen.signal(SIGKILL)
            try waitFor("its end to be noticed", evidence: { client.errorTail }) {
                client.errors.contains("the X server has ended; waiting for it to come back")
            }
            #expect(!client.errors.contains("answers again"), "\(client.errors)")
            try stage.end(client)
        }
    }
}
