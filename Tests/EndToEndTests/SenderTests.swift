import Foundation
import Glibc
import MediaCore
import TestSupport
import Testing

/// Promise: `upcast-send` keeps what it is given together, shows how it goes, and says once what went wrong.
@Suite struct SenderTests {
    /// A pipe whose writer gives its first frame 1.5 s late, beside a WAV file that is there at once.
    @Test(.inItsTurn) func aLatePipeIsInStepWithAFile() async throws {
        try await blocking {
            // Sound that a busy machine delivers late is none of this test's business.
            let stage = try Stage(FlashAndBeep.settings)
            let folder = try TemporaryDirectory("late")
            let events: [Range<Double>] = [1.2..<1.5, 2.4..<2.7, 3.6..<3.9]
            try Self.clip(length: 5, bright: events).write(to: URL(filePath: folder.file("clip.y4m")))
            try Self.sound(length: 5, loud: events).write(to: URL(filePath: folder.file("sound.wav")))
            let fifo = folder.file("video")
            try #require(mkfifo(fifo, 0o600) == 0)
            let sender = try ChildProcess(
                ProductExecutable.upcastSend.path,
                ["--socket", stage.daemon.ingestSocket, "--video", fifo, "--mic", folder.file("sound.wav")])
            // The file is there from here on.
            try waitFor("the broadcast to begin", evidence: { sender.errorTail }) {
                stage.daemon.log.contains("broadcast started")
            }
            // What is tested is that the pipe is late; nothing waits for this sleep's end.
            let writer = try ChildProcess("sh", ["-c", "sleep 1.5; exec cat \(folder.file("clip.y4m")) > \(fifo)"])
            try sender.waitForSuccess(within: 30)
            try writer.waitForSuccess(within: 5)
            let recording = try stage.server.finishedRecording()
            try FlashAndBeep(recording).expectTogether(events.count)
            try stage.checkRecording(recording)
            try stage.end()
        }
    }

    /// The film of the README: its picture and sound are in one pipe with their times, and leave as they were together,
    /// or as far apart as is asked for.
    ///
    /// Films with AAC begin with its priming, so that the times of their pictures are no multiples of a frame.
    @Test(
        .inItsTurn,
        arguments: [
            (0, ["ffv1"], "nut"), (250, ["ffv1"], "nut"), (-150, ["ffv1"], "nut"),
            (0, ["libx264", "-bf", "2", "-c:a", "aac"], "nut"), (0, ["ffv1"], "matroska"),
            (0, ["ffv1", "-pix_fmt", "yuv420p10le"], "nut"),
        ])
    func aFilmIsInSync(offset: Int, codecs: [String], container: String) async throws {
        try await blocking {
            let stage = try Stage(FlashAndBeep.settings)
            let folder = try TemporaryDirectory("film")
            let events: [Range<Double>] = [1.2..<1.5, 2.4..<2.7, 3.6..<3.9]
            try Self.clip(length: 5, bright: events).write(to: URL(filePath: folder.file("clip.y4m")))
            try Self.sound(length: 5, loud: events).write(to: URL(filePath: folder.file("sound.wav")))
            _ = try ChildProcess.run(
                "ffmpeg",
                [
                    "-loglevel", "error", "-i", folder.file("clip.y4m"), "-i", folder.file("sound.wav"), "-c:v",
                ] + codecs + [folder.file("film.mkv")])
            let command = try #require(READMECommand.all().first { $0.contains("film.mkv") })
                .replacing("-f nut", with: "-f \(container)")
            let sender = try READMECommand.start(
                command + (offset == 0 ? "" : " --audio-offset \(offset)"), in: folder,
                socket: stage.daemon.ingestSocket)
            try sender.waitForSuccess(within: 30)
            let recording = try stage.server.finishedRecording()
            try FlashAndBeep(recording)
                .expectTogether(events.count, within: 0.005, offset: Double(offset) / 1000)
            try stage.checkRecording(recording)
            try stage.end()
        }
    }

    /// A script learns that a part of a film is missing.
    @Test(.inItsTurn, arguments: [0, 1000]) func aFilmThatIsCutOff(missing: Int) async throws {
        try await blocking {
            let folder = try TemporaryDirectory("film")
            _ = try ChildProcess.run(
                "ffmpeg",
                [
                    "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=160x120:rate=10:duration=1", "-c:v",
                    "rawvideo", "-pix_fmt", "yuv420p", "-write_index", "0", "-f", "nut", folder.file("a.nut"),
                ])
            let film = try Data(contentsOf: URL(filePath: folder.file("a.nut")))
            try film.dropLast(missing).write(to: URL(filePath: folder.file("a.nut")))
            let stage = try Stage()
            let sender = try ChildProcess(
                ProductExecutable.upcastSend.path, ["--socket", stage.daemon.ingestSocket, folder.file("a.nut")])
            #expect(sender.waitForExit(within: 20) == .code(missing > 0 ? 3 : 0), "\(sender.errorTail)")
            let text = "the input ends in the middle of a frame, of which 27800 bytes were not sent"
            #expect(sender.errors.contains(text) == (missing > 0), "\(sender.errors)")
            #expect(sender.errors.contains("taken as bt601, video range"), "\(sender.errors)")
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    /// Bug: viewers saw a broadcast begin, and end at once.
    @Test(
        .inItsTurn,
        arguments: [
            ([], "a.nut", "160x12; 16x16 to 4096x4096 can be sent"),
            (["--video"], "a.y4m", "a.y4m: Y4M frames of 160x12; 16x16 to 4096x4096 can be sent"),
            (["--video", "none", "--app-audio"], "a.y4m", "a.y4m: the audio input is no WAV stream"),
            (["--mic"], "a.wav", "a.wav: the WAV stream ends before its samples begin"),
            (["--mic"], "empty.wav", "empty.wav: the audio input has no samples"),
            (["--size", "160x120", "--format", "BGRA", "--video"], "a.wav", "a.wav: the video has no frame"),
            (["--video"], "", "is a folder"), ([], "header.nut", "header.nut: the input ends before its first sample"),
            (["--video"], "a\u{1b}[31m.nut", "/a?[31m.nut: No such file"),
        ] as [([String], String, String)])
    func aFileThatCannotBeSentIsRefusedFirst(_ options: [String], name: String, error: String) async throws {
        try await blocking {
            let folder = try TemporaryDirectory("refused")
            let picture = [
                "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=160x12:rate=10:duration=1", "-pix_fmt",
                "yuv420p",
            ]
            let codec = ["-c:v", "rawvideo"]
            let header = codec + ["-s", "160x120", "-t", "0"]
            for (name, options) in [("a.nut", codec), ("header.nut", header), ("a.y4m", [])] {
                _ = try ChildProcess.run("ffmpeg", picture + options + [folder.file(name)])
            }
            try Data("RIFF....WAVE".utf8).write(to: URL(filePath: folder.file("a.wav")))
            _ = try ChildProcess.run(
                "ffmpeg",
                ["-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine", "-t", "0", folder.file("empty.wav")])
            let sender = try ChildProcess(
                ProductExecutable.upcastSend.path,
                ["--socket", folder.file("no-daemon")] + options + [folder.file(name)])
            #expect(sender.waitForExit(within: 20) == .code(4), "\(sender.errorTail)")
            #expect(sender.errors.contains(error), "\(sender.errors)")
        }
    }

    /// Bug: what read standard error left, and the next message ended the program.
    @Test(.inItsTurn) func nobodyReadsTheMessages() async throws {
        try await blocking {
            let stage = try Stage()
            let shell = try ChildProcess(
                "bash",
                [
                    "-c", #"{ "$0" --socket "$1" --rate 120 --seconds 1 2>&1; echo "status $?" >&3; } 3>&2 | true"#,
                    ProductExecutable.upcastSend.path, stage.daemon.ingestSocket,
                ])
            try shell.waitForSuccess(within: 30)
            #expect(shell.errors.contains("status 0"), "\(shell.errors)")
            try stage.end()
        }
    }

    /// At the end, a log learns of frames that were dropped, here because there are more than the stream has room for.
    @Test(.inItsTurn) func droppedFramesAreNamed() async throws {
        try await blocking {
            let stage = try Stage()
            let sender = try ChildProcess(
                ProductExecutable.upcastSend.path,
                ["--socket", stage.daemon.ingestSocket, "--size", "160x120", "--rate", "120", "--seconds", "2"])
            try sender.waitForSuccess(within: 30)
            let sentence = /frames and [0-9]+ audio samples accepted, [1-9][0-9]* frames dropped/
            #expect(sender.errors.contains(sentence), "\(sender.errors)")
            try stage.end()
        }
    }

    /// The shell has chosen the names of these pipes.
    @Test(.inItsTurn) func pipesWithoutSamples() async throws {
        try await blocking {
            let stage = try Stage()
            let script = #""$0" --socket "$1" --app-audio <(:) --mic <(:)"#
            let sender = try ChildProcess(
                "bash", ["-c", script, ProductExecutable.upcastSend.path, stage.daemon.ingestSocket])
            #expect(sender.waitForExit(within: 20) == .code(4), "\(sender.errorTail)")
            let error = /: (app audio|microphone): \/dev\/fd\/[0-9]+: the audio/
            #expect(sender.errors.contains(error), "\(sender.errors)")
            try stage.end()
        }
    }

    @Test(.inItsTurn, arguments: [true, false]) func hdrIsNamed(isQuiet: Bool) async throws {
        try await blocking {
            let stage = try Stage()
            let sender = try ChildProcess(
                "bash",
                [
                    "-c",
                    "ffmpeg -nostdin -v error -f lavfi -i testsrc=size=160x120:rate=10:duration=1 -pix_fmt yuv420p "
                        + #"-c:v rawvideo -color_trc smpte2084 -f matroska - | "$0" --socket "$1" $2 -"#,
                    ProductExecutable.upcastSend.path, stage.daemon.ingestSocket, isQuiet ? "--quiet" : "",
                ])
            try sender.waitForSuccess(within: 30)
            #expect(sender.errors.contains("the video is HDR (PQ)") == !isQuiet, "\(sender.errors)")
            try stage.end()
        }
    }

    /// Each input that is cut off is named. What cannot begin again is not repeated.
    @Test(.inItsTurn) func inputsThatAreCutOff() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("cut")
            let picture = "testsrc=size=160x120:rate=10:duration=1,format=yuv420p"
            for (name, source) in [("a.y4m", picture), ("a.wav", "sine=duration=1")] {
                _ = try ChildProcess.run(
                    "ffmpeg", ["-nostdin", "-v", "error", "-f", "lavfi", "-i", source, folder.file(name)])
                let bytes = try Data(contentsOf: URL(filePath: folder.file(name)))
                try bytes.dropLast(1000).write(to: URL(filePath: folder.file(name)))
            }
            let stage = try Stage()
            let sender = try ChildProcess(
                "sh",
                [
                    "-c", "cat \"$3\" | \"$0\" --socket \"$1\" --loop --seconds 3 --video \"$2\" --app-audio -",
                    ProductExecutable.upcastSend.path, stage.daemon.ingestSocket, folder.file("a.y4m"),
                    folder.file("a.wav"),
                ])
            #expect(sender.waitForExit(within: 20) == .code(3), "\(sender.errorTail)")
            for text in [
                "video: the input ends in the middle of a frame, of which", "app audio: the input is cut off",
                "app audio: not a regular file, so it cannot begin again",
            ] { #expect(sender.errors.contains(text), "\(sender.errors)") }
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    /// The desktop of the README: one ffmpeg grabs a screen and its sound, each sample with the time of its capture.
    @Test(.inItsTurn) func aDesktopIsInSync() async throws {
        try await blocking {
            let stage = try Stage(FlashAndBeep.settings)
            let folder = try TemporaryDirectory("desktop")
            let events: [Range<Double>] = [1.2..<1.5, 2.4..<2.7, 3.6..<3.9, 4.8..<5.1, 6..<6.3, 7.2..<7.5, 8.4..<8.7]
            try Self.clip(length: 10, bright: events).write(to: URL(filePath: folder.file("clip.y4m")))
            try Self.sound(length: 10, loud: events).write(to: URL(filePath: folder.file("sound.wav")))
            let film = folder.file("film.mkv")
            _ = try ChildProcess.run(
                "ffmpeg",
                [
                    "-loglevel", "error", "-i", folder.file("clip.y4m"), "-i", folder.file("sound.wav"), "-c:v", "ffv1",
                    film,
                ])
            let (screen, sound) = (try VirtualScreen(width: 320, height: 180), try VirtualSound())
            let environment = sound.environment.merging(["DISPLAY": screen.display]) { $1 }
            let command = try #require(READMECommand.all().first { $0.contains("x11grab") })
            let sender = try READMECommand.start(
                command, in: folder, socket: stage.daemon.ingestSocket, environment: environment)
            try waitFor("the desktop to be live", evidence: { sender.errorTail }) {
                stage.daemon.log.contains("broadcast started")
            }
            try ChildProcess(
                "ffplay",
                ["-v", "error", "-autoexit", "-noborder", "-left", "0", "-top", "0", film],
                environment: environment.merging(["SDL_AUDIODRIVER": "pulseaudio", "SDL_VIDEODRIVER": "x11"]) { $1 }
            ).waitForSuccess(within: 40)
            sender.signalGroup(SIGINT)
            _ = sender.waitForExit(within: 20)
            let recording = try stage.server.finishedRecording()
            try FlashAndBeep(recording).expectTogether(onTheWhole: 0.080)
            try stage.end()
        }
    }

    /// One ffmpeg that writes live pictures and sound to two pipes is refused, with what to do instead.
    @Test(.inItsTurn) func oneProgramForTwoLivePipes() async throws {
        try await blocking {
            let stage = try Stage(FlashAndBeep.settings)
            let folder = try TemporaryDirectory("pipes")
            let (upcast, socket) = (try ProductExecutable.upcastSend.path, stage.daemon.ingestSocket)
            let script = """
                cd \(folder.path) && mkfifo sound && ffmpeg -nostdin -v quiet -y -re -f lavfi -i testsrc=r=25 \
                  -re -f lavfi -i sine=r=48000 -map 0:v -pix_fmt yuv420p -f yuv4mpegpipe - -map 1:a -f s16le sound | \
                \(upcast) --socket \(socket) --video - --app-audio sound --app-audio-format s16le,48000,1
                """
            let shell = try ChildProcess("sh", ["-c", script])
            #expect(shell.waitForExit(within: 30) == .code(4), "\(shell.errorTail)")
            #expect(shell.errors.contains("one ffmpeg writes both pipes"), "\(shell.errorTail)")
            try stage.end()
        }
    }

    /// The daemon stands still for more than 2 s, as one that is swapped out: afterwards all is where it was.
    @Test(.inItsTurn) func aDaemonThatStoodStill() async throws {
        try await blocking {
            let stage = try Stage(FlashAndBeep.settings)
            let folder = try TemporaryDirectory("film")
            let events: [Range<Double>] = [7.2..<7.5, 8.4..<8.7]
            try Self.clip(length: 10, bright: events).write(to: URL(filePath: folder.file("clip.y4m")))
            try Self.sound(length: 10, loud: events).write(to: URL(filePath: folder.file("sound.wav")))
            let sender = try ChildProcess(
                ProductExecutable.upcastSend.path,
                [
                    "--socket", stage.daemon.ingestSocket, "--video", folder.file("clip.y4m"), "--app-audio",
                    folder.file("sound.wav"),
                ])
            func count(_ section: String, _ name: String) throws -> Int {
                (try stage.daemon.status()[section] as? [String: Any])?[name] as? Int ?? -1
            }
            func waitForPictures(_ least: Int) throws {
                try waitFor("\(least) pictures", evidence: { sender.errorTail }) {
                    try count("video", "frames_received") >= least
                }
            }
            try waitForPictures(25)
            stage.daemon.process.signal(SIGSTOP)
            // What is tested is that it takes so long; nothing waits for this sleep's end.
            Thread.sleep(forTimeInterval: 2.3)
            stage.daemon.process.signal(SIGCONT)
            try waitForPictures(100)
            for name in ["jumps_forward", "jumps_backward", "lateness_rebases"] {
                #expect(try count("timeline", name) == 0, "\(name)")
            }
            try sender.waitForSuccess(within: 30)
            try FlashAndBeep(stage.server.finishedRecording()).expectTogether(events.count)
            try stage.end()
        }
    }

    /// At 40 columns, which is less than the line would like: it is never longer, and it names frames, drops and time.
    @Test(.inItsTurn) func progressOnATerminal() async throws {
        try await blocking {
            let stage = try Stage()
            let sender = try ProductExecutable.upcastSend.path
            let options = "--socket \(stage.daemon.ingestSocket) --size 320x180 --rate 60 --seconds 5 --pause-at 2:2"
            let output = try ChildProcess.run(
                "script",
                ["-qfec", "stty cols 40; exec \(sender) \(options)", "/dev/null"])
            let drawings = output.components(separatedBy: "\r\u{1b}[K").dropFirst().map {
                $0.prefix { !$0.isNewline }
            }.filter { !$0.contains("audio samples accepted") && !$0.hasPrefix("upcast-send: ") }
            #expect(drawings.allSatisfy { $0.count < 40 }, "\(drawings)")
            let line = /0:0[0-9]  [0-9]+ frames  [0-9]+ dropped.*/
            #expect(drawings.contains { $0.wholeMatch(of: line) != nil }, "\(drawings)")
            // There is no room for the state beside a pause, nor beside frames that a busy machine sent too late, and
            // parts are shown whole or not at all.
            #expect(drawings.contains { $0.contains("  live") || $0.hasSuffix(" late") }, "\(drawings)")
            #expect(drawings.contains { $0.hasSuffix(" dropped  paused") }, "\(drawings)")
            #expect(output.contains("audio samples accepted"), "\(output)")
            _ = try stage.server.finishedRecording()
            try stage.end()
        }
    }

    /// A daemon that is gone: one sentence, whatever each track's thread and the main thread met.
    @Test(.inItsTurn) func aLostDaemonIsToldOnce() async throws {
        try await blocking {
            let stage = try Stage()
            let sender = try ChildProcess(
                ProductExecutable.upcastSend.path,
                ["--socket", stage.daemon.ingestSocket, "--size", "320x180", "--mic", "tone"])
            try waitFor("the broadcast to be live", evidence: { sender.errorTail }) {
                try stage.daemon.status()["state"] as? String == "live"
            }
            stage.daemon.process.signal(SIGKILL)
            #expect(sender.waitForExit(within: 10) == .code(3), "\(sender.errorTail)")
            #expect(sender.errors.split(separator: "\n").count == 1, "\(sender.errors)")
        }
    }

    /// 320x180 at 25 frames a second, bright in the given seconds and dark elsewhere.
    static func clip(length: Double, bright: [Range<Double>]) -> Data {
        var data = Data("YUV4MPEG2 W320 H180 F25:1 C420jpeg\n".utf8)
        for frame in 0..<Int(length * 25) {
            let isBright = bright.contains { $0.contains((Double(frame) + 0.01) / 25) }
            data += Data("FRAME\n".utf8)
            data += Data(repeating: isBright ? 220 : 30, count: 320 * 180)
            data += Data(repeating: 128, count: 320 * 180 / 2)
        }
        return data
    }

    /// A WAV stream of 48 kHz, mono: 2 kHz in the given seconds and silence elsewhere.
    static func sound(length: Double, loud: [Range<Double>]) -> Data {
        let count = Int(length * 48_000)
        let tone = Tone(frequency: 2000, amplitude: 0.5).samples(count: count, rate: 48_000)
        let samples = tone.enumerated().map { index, sample in
            loud.contains { $0.contains((Double(index) + 0.5) / 48_000) } ? sample : 0
        }
        let sound = RawSound(samples, format: AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16))
        func little(_ value: Int, _ bytes: Int) -> Data { Data((0..<bytes).map { UInt8(value >> (8 * $0) & 255) }) }
        var data = Data("RIFF".utf8) + little(36 + 2 * count, 4) + Data("WAVEfmt ".utf8) + little(16, 4)
        data += little(1, 2) + little(1, 2) + little(48_000, 4) + little(96_000, 4) + little(2, 2) + little(16, 2)
        return data + Data("data".utf8) + little(2 * count, 4) + Data(sound.payload)
    }
}
