import Foundation
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// Promise: `upcast-screen` sends a desktop's sound in time with its picture, whatever happens to sinks and servers.
@Suite struct ScreenSoundTests {
    /// A screen, its sound, and a film on both: bright for 0.3 s with a tone, every 1.2 s.
    private struct Desktop {
        static let events: [Range<Double>] = [1.2..<1.5, 2.4..<2.7, 3.6..<3.9, 4.8..<5.1, 6..<6.3, 7.2..<7.5, 8.4..<8.7]
        let folder: TemporaryDirectory
        let screen: VirtualScreen
        let sound: VirtualSound

        init() throws {
            folder = try TemporaryDirectory("desktop")
            try SenderTests.clip(length: 10, bright: Self.events).write(to: URL(filePath: folder.file("clip.y4m")))
            try SenderTests.sound(length: 10, loud: Self.events).write(to: URL(filePath: folder.file("sound.wav")))
            _ = try ChildProcess.run(
                "ffmpeg",
                [
                    "-loglevel", "error", "-i", folder.file("clip.y4m"), "-i", folder.file("sound.wav"), "-c:v", "ffv1",
                    folder.file("film.mkv"),
                ])
            (screen, sound) = (try VirtualScreen(width: 320, height: 180), try VirtualSound())
        }

        var environment: [String: String] { sound.environment.merging(["DISPLAY": screen.display]) { $1 } }

        func play() throws -> ChildProcess {
            try ChildProcess(
                "ffplay",
                ["-v", "error", "-autoexit", "-noborder", "-left", "0", "-top", "0", folder.file("film.mkv")],
                environment: environment.merging(["SDL_AUDIODRIVER": "pulseaudio", "SDL_VIDEODRIVER": "x11"]) { $1 })
        }

        func pactl(_ arguments: String...) throws -> String {
            try ChildProcess.run("pactl", ["-s", try #require(sound.environment["PULSE_SERVER"])] + arguments)
        }

        func client(_ stage: Stage, _ options: [String] = []) throws -> ChildProcess {
            try ChildProcess(
                ProductExecutable.upcastScreen.path, ["--socket", stage.daemon.ingestSocket] + options,
                environment: environment)
        }
    }

    private static func waitForError(_ text: String, of client: ChildProcess) throws {
        try waitFor("upcast-screen to say: \(text)", while: client) {
            return client.errors.contains(text)
        }
    }

    /// The desktop of the README.
    @Test(.inItsTurn) func aDesktopIsInSync() async throws {
        try await blocking {
            let stage = try Stage(FlashAndBeep.settings)
            let desktop = try Desktop()
            let command = try #require(READMECommand.all().first { $0.hasPrefix("upcast-screen") })
            let client = try READMECommand.start(
                command, in: desktop.folder, socket: stage.daemon.ingestSocket, environment: desktop.environment)
            try waitFor("the desktop to be live", evidence: { client.errorTail }) {
                client.errors.contains("app audio is sink.monitor")
                    && stage.daemon.log.contains("broadcast started")
            }
            try desktop.play().waitForSuccess(within: 40)
            client.signalGroup(SIGINT)
            _ = client.waitForExit(within: 20)
            try FlashAndBeep(stage.server.finishedRecording()).expectTogether(onTheWhole: 0.040)
            try stage.end()
        }
    }

    /// The default sink changes, its successor stands still for a while, and goes: sound comes from where it is.
    @Test(.inItsTurn) func sinksComeAndGo() async throws {
        try await blocking {
            let stage = try Stage(FlashAndBeep.settings)
            let desktop = try Desktop()
            let client = try desktop.client(stage)
            try Self.waitForError("app audio is sink.monitor", of: client)
            let module = try desktop.pactl("load-module", "module-null-sink", "sink_name=second", "rate=44100")
                .trimmingCharacters(in: .whitespacesAndNewlines)
            _ = try desktop.pactl("set-default-sink", "second")
            try Self.waitForError("app audio is second.monitor", of: client)
            _ = try desktop.pactl("suspend-sink", "second", "1")
            _ = try desktop.pactl("suspend-sink", "second", "0")
            try desktop.play().waitForSuccess(within: 40)
            _ = try desktop.pactl("unload-module", module)
            let isBack = #/second.monitor(.|\n)*sink.monitor/#
            try waitFor("the first sink again", evidence: { client.errorTail }) {
                client.errors.contains(isBack)
            }
            client.signal(SIGINT)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            try FlashAndBeep(stage.server.finishedRecording()).expectTogether(onTheWhole: 0.040)
            try stage.end()
        }
    }

    /// PipeWire cuts off streams of a sink that is suspended while it plays.
    @Test(.inItsTurn) func aSuspendedSinkOfPipeWire() async throws {
        try await blocking {
            let (stage, sound) = (try Stage(), try VirtualPipeWire())
            let screen = try VirtualScreen(width: 320, height: 180)
            let player = try ChildProcess(
                "ffmpeg",
                ["-loglevel", "error", "-re", "-f", "lavfi", "-i", "sine=sample_rate=48000", "-f", "pulse", "tone"],
                environment: sound.environment)
            let client = try ChildProcess(
                ProductExecutable.upcastScreen.path, ["--socket", stage.daemon.ingestSocket],
                environment: sound.environment.merging(["DISPLAY": screen.display]) { $1 })
            func waitForLevel(_ what: String, _ isLevel: (Double) -> Bool) throws {
                try waitFor(what, while: client, evidence: { player.errorTail + stage.daemon.log }) {
                    let audio = try stage.daemon.status()["audio"] as? [String: Any]
                    let levels = (audio?["levels"] as? [[String: Any]])?.filter { $0["source"] as? String == "app" }
                    return (levels?.first?["peak_dbfs"] as? Double).map(isLevel) ?? false
                }
            }
            try waitForLevel("the tone") { $0 > -40 }
            for _ in 0..<2 {
                for isSuspended in ["1", "0"] { try sound.pactl("suspend-sink", "sink", isSuspended) }
                // Levels are those of half a second.
                let later = MonotonicClock().now() + .milliseconds(1_500)
                try waitForLevel("the tone again") { $0 > -40 && MonotonicClock().now() > later }
            }
            client.signal(SIGTERM)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            try player.stop(SIGKILL)
            try stage.end()
        }
    }

    /// Only what one program plays, although another one plays, too; from when it begins.
    @Test(.inItsTurn) func oneProgram() async throws {
        try await blocking {
            let stage = try Stage(FlashAndBeep.settings)
            let desktop = try Desktop()
            // Another tone without end.
            let other = try ChildProcess(
                "ffmpeg",
                [
                    "-loglevel", "error", "-re", "-f", "lavfi", "-i", "sine=frequency=300:sample_rate=48000", "-f",
                    "pulse", "-name", "other", "tone",
                ], environment: desktop.environment)
            let client = try desktop.client(stage, ["--sound", "app=ffplay"])
            try Self.waitForError("no program ffplay plays sound", of: client)
            try Self.waitForError("broadcast ", of: client)
            let player = try desktop.play()
            try Self.waitForError("app audio is what ffplay plays, of sink.monitor", of: client)
            try player.waitForSuccess(within: 40)
            client.signal(SIGINT)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            #expect(other.isRunning, "\(other.errorTail)")
            try other.stop(SIGKILL)
            // With the other tone, there would be no beginnings.
            let seen = try FlashAndBeep(stage.server.finishedRecording())
            #expect(seen.beeps.count >= 5, "\(seen.beeps)")
            try stage.end()
        }
    }

    /// A server that takes the connection and does not answer: pictures are not kept waiting, the user is told, and
    /// sound comes when it answers.
    @Test(.inItsTurn, arguments: [["--sound", "default"], []]) func aServerThatHangs(options: [String]) async throws {
        try await blocking {
            let stage = try Stage(FlashAndBeep.settings)
            let desktop = try Desktop()
            try desktop.sound.freeze()
            let client = try desktop.client(stage, options)
            try waitFor("pictures", within: 5, evidence: { client.errorTail }) {
                try stage.daemon.receivedPictures() > 0
            }
            try Self.waitForError("the sound server does not answer: it is stopped, or hangs", of: client)
            #expect(client.errors.contains("broadcasts have no sound"), "\(client.errors)")
            let list = try ChildProcess(
                ProductExecutable.upcastScreen.path, ["--list"], environment: desktop.environment)
            #expect(list.waitForExit(within: 8) == .code(0), "\(list.errorTail)")
            #expect(list.errors.contains("the list is without sound"), "\(list.errors)")
            desktop.sound.thaw()
            try Self.waitForError("app audio is sink.monitor", of: client)
            try desktop.play().waitForSuccess(within: 40)
            // Once more, in the middle of the broadcast.
            func count(_ text: String) -> Int { client.errors.components(separatedBy: text).count - 1 }
            try desktop.sound.freeze()
            try waitFor("the second message", within: 20, evidence: { client.errorTail }) {
                count("does not answer") == 2
            }
            desktop.sound.thaw()
            try waitFor("sound again", evidence: { client.errorTail }) { count("app audio is sink.monitor") == 2 }
            client.signal(SIGINT)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            #expect(!client.errors.lowercased().contains("entity killed"), "\(client.errors)")
            #expect(count("does not answer") == 2, "told once each time. \(client.errors)")
            try FlashAndBeep(stage.server.finishedRecording()).expectTogether(onTheWhole: 0.040)
            try stage.end()
        }
    }

    /// What is wrong with the sound that was asked for is said at the start. Without a server, a screen has no sound.
    @Test(.inItsTurn) func mistakes() async throws {
        try await blocking {
            let desktop = try Desktop()
            let (screen, upcast) = (desktop.screen.display, try ProductExecutable.upcastScreen.path)
            func run(_ options: [String], server: Bool = true) throws -> ChildProcess {
                let client = try ChildProcess(
                    upcast, ["--display", screen, "--socket", desktop.folder.file("none.sock")] + options,
                    environment: server ? desktop.environment : ["PULSE_SERVER": "unix:/nowhere"])
                _ = client.waitForExit(within: 20)
                return client
            }
            let sink = try run(["--sound", "line-out"])
            #expect(sink.waitForExit(within: 1) == .code(4))
            #expect(sink.errors.contains("there is no sink line-out; the sinks are sink"), "\(sink.errors)")
            // A null sink's monitor is the default source.
            let microphone = try run(["--microphone", "default"])
            #expect(microphone.waitForExit(within: 1) == .code(4))
            #expect(microphone.errors.contains("the default source is no microphone"), "\(microphone.errors)")
            let absent = try run(["--sound", "default"], server: false)
            #expect(absent.waitForExit(within: 1) == .code(4))
            #expect(absent.errors.contains("no sound server answers"), "\(absent.errors)")
            // Here the daemon is what is missing.
            let silent = try run([], server: false)
            #expect(silent.waitForExit(within: 1) == .code(2), "\(silent.errors)")
            let list = try run(["--list"])
            #expect(list.output.contains("SINK") && list.output.contains("sink (default)"), "\(list.output)")
            for (output, reason) in [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")] {
                let lost = try ChildProcess(
                    "sh", ["-c", "exec \"$0\" --list --display \"$1\" \(output)", upcast, screen],
                    environment: desktop.environment)
                #expect(lost.waitForExit(within: 20) == .code(3), "\(output)")
                #expect(lost.errors.contains("cannot write the list: \(reason)"), "\(lost.errors)")
            }
            let short = try run(["--list"], server: false)
            #expect(short.waitForExit(within: 1) == .code(0), "\(short.errors)")
            #expect(short.output.hasPrefix("MONITOR") && !short.output.contains("SINK"), "\(short.output)")
            #expect(short.errors.hasPrefix("upcast-screen: no sound server answers"), "\(short.errors)")
            #expect(short.errors.hasSuffix("; the list is without sound\n"), "\(short.errors)")
        }
    }

    /// A sound server that ends and comes back under its name.
    @Test(.inItsTurn) func aSoundServerThatComesBack() async throws {
        try await blocking {
            let stage = try Stage(FlashAndBeep.settings)
            let desktop = try Desktop()
            let client = try desktop.client(stage)
            try Self.waitForError("app audio is sink.monitor", of: client)
            try desktop.sound.restart { try Self.waitForError("the sound server has ended", of: client) }
            let isBack = #/has ended(.|\n)*sink.monitor/#
            try waitFor("the sound server", evidence: { client.errorTail }) { client.errors.contains(isBack) }
            try desktop.play().waitForSuccess(within: 40)
            client.signal(SIGINT)
            #expect(client.waitForExit(within: 20) == .code(0), "\(client.errorTail)")
            try FlashAndBeep(stage.server.finishedRecording()).expectTogether(onTheWhole: 0.040)
            try stage.end()
        }
    }
}
