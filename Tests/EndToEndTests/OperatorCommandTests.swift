import Foundation
import Glibc
import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// Promise: what an operator tells a running daemon happens, and what cannot happen is said with an exit status.
@Suite struct OperatorCommandTests {
    private struct Said {
        let exit: ChildProcess.Exit?
        let output: String
        let errors: String
    }

    private func control(_ arguments: [String], environment: [String: String] = [:]) throws -> Said {
        let process = try ChildProcess(ProductExecutable.upcastctl.path, arguments, environment: environment)
        let exit = process.waitForExit(within: 20)
        return Said(exit: exit, output: process.output, errors: process.errors)
    }

    private func control(_ daemon: Daemon, _ arguments: String...) throws -> Said {
        try control(arguments + ["--socket", daemon.controlSocket])
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test(.inItsTurn) func aBroadcastIsCommanded() async throws {
        try await blocking {
            let stage = try Stage()
            let daemon = stage.daemon
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            func state() throws -> String { try daemon.status()["state"] as? String ?? "" }
            func video(_ name: String) throws -> Int {
                (try daemon.status()["video"] as? [String: Any])?[name] as? Int ?? -1
            }

            #expect(try control(daemon, "health").output == "healthy\n")
            #expect(try json(control(daemon, "ready", "--json").output) as? [String: String] == ["status": "ready"])

            #expect(try control(daemon, "pause").exit == .code(0))
            try waitFor("the pause") { try state() == "paused" }
            #expect(try control(daemon, "resume").exit == .code(0))
            try waitFor("the end of the pause") { try state() == "live" }

            #expect(try control(daemon, "bitrate", "1.5M").exit == .code(0))
            try stage.show(NumberedPictures.landscape(2), orientation: .up, in: playback)
            try waitFor("the ceiling") { try video("target_bits_per_second") == 1_500_000 }
            #expect(try control(daemon, "bitrate", "auto").exit == .code(0))
            let refused = try control(daemon, "bitrate", "1k")
            #expect(refused.exit == .code(1) && refused.errors.contains("100000 to 8000000 (video.bitrate_kbps"))

            let keyframes = try video("keyframes")
            #expect(try control(daemon, "keyframe").exit == .code(0))
            try stage.show(NumberedPictures.landscape(3), orientation: .up, in: playback)
            try waitFor("a keyframe") { try video("keyframes") > keyframes }

            let level = try control(daemon, "log-level", "debug", "--json")
            #expect(try json(level.output) as? [String: String] == ["level": "debug"])
            #expect(try control(daemon, "plan").output.contains("memory.cap_bytes"))
            #expect(try control(daemon, "config").output.contains("video.width = 640\n"))
            let list = try json(control(daemon, "destination", "list", "--json").output)
            #expect((list["destinations"] as? [[String: Any]])?.first?["name"] as? String == "main")

            #expect(try control(daemon, "stop").exit == .code(0))
            try playback.client.waitForEnd()
            try waitFor("the broadcast to be over") { try state() == "idle" }
            // A line of level debug: the daemon began with info.
            try daemon.waitForLog("destination state")
            let again = try control(daemon, "stop")
            #expect(again.exit == .code(1) && again.errors.contains("refused: no broadcast is running"), "\(again)")
            try stage.checkRecording(try stage.server.finishedRecording())
            try stage.end()
        }
    }

    /// A picture is saved whole or not at all, and a link stays one.
    @Test(.inItsTurn) func snapshots() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("snapshots")
            let stage = try Stage()
            let file = folder.file("shot.jpg")
            try folder.write("as before", to: "shot.jpg")
            let none = try control(stage.daemon, "snapshot", file)
            #expect(none.exit == .code(1) && none.errors.contains("refused: no broadcast encodes video"), "\(none)")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "as before")

            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            let link = folder.file("link.jpg")
            try #require(symlink("shot.jpg", link) == 0)
            let saved = try control(stage.daemon, "snapshot", link, "--json")
            #expect(saved.exit == .code(0))
            let bytes = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
            let said = try json(saved.output)
            #expect(said["file"] as? String == link && said["bytes"] as? Int == bytes && bytes != nil)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "shot.jpg")
            #expect(try MediaProbe.decodingErrors(file) == "")
            let picture = try #require(try MediaProbe.streams(file).first)
            #expect(picture.width == 640 && picture.height == 360)
            #expect(try control(stage.daemon, "snapshot", folder.file("nowhere/x.jpg")).exit == .code(1))
            // Nothing half lies about.
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            #expect(left == ["link.jpg", "shot.jpg"])
            try playback.client.finish()
            try stage.end()
        }
    }

    /// Over TCP, with the token from its file, and not without; the variables do as well as the options.
    @Test(.inItsTurn) func overTCP() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("tcp")
            let port = try Loopback.freePort()
            let token = try folder.write("0123456789abcdef0123\n", to: "token")
            var settings = DaemonSettings()
            settings.control = ["listen": "\"127.0.0.1:\(port)\"", "token_file": token]
            settings.destinations = [("file", ["url": folder.file("a.flv")])]
            let daemon = try Daemon(settings)
            let url = "http://127.0.0.1:\(port)"
            #expect(try control(["status", "--url", url, "--token-file", token]).output.hasPrefix("state"))
            let variables = ["UPCAST_CONTROL_URL": url, "UPCAST_CONTROL_TOKEN_FILE": token]
            #expect(try control(["plan"], environment: variables).exit == .code(0))
            #expect(try control(["health", "--url", url]).exit == .code(0), "health needs no token")
            let stranger = try control(["status", "--url", url])
            #expect(stranger.exit == .code(1) && stranger.errors.hasPrefix("upcastctl: refused: "), "\(stranger)")
            #expect(stranger.errors.contains("asks for a token") && stranger.errors.contains("--token-file"))
            let other = try folder.write("another-0123456789abcdef\n", to: "other")
            let wrong = try control(["status", "--url", url, "--token-file", other])
            #expect(wrong.exit == .code(1) && wrong.errors.contains("the token in \(other) is not"), "\(wrong)")
            #expect(try daemon.terminate() == .code(0), "\(daemon.process.errorTail)")
            let gone = try control(["status"], environment: variables)
            #expect(gone.exit == .code(2) && gone.errors.contains("nothing listens at 127.0.0.1:\(port)"), "\(gone)")
            #expect(!gone.errors.contains("0123456789"))
        }
    }

    /// The check is that of the daemon which stands beside the tool.
    @Test(.inItsTurn) func configurationsAreChecked() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("check")
            let sockets = "ingest:\n  socket: \(folder.file("a.sock"))\ncontrol:\n  socket: \(folder.file("b.sock"))\n"
            let yaml = sockets + "destinations:\n  - url: \(folder.file("a.flv"))\n"
            let right = try folder.write(yaml, to: "right.yaml")
            let wrong = try folder.write(yaml + "video:\n  widht: 1\n", to: "wrong.yaml")
            #expect(try control(["config", "check", right]).exit == .code(0))
            let refused = try control(["config", "check", wrong])
            #expect(refused.exit == .code(1) && refused.errors.contains("widht"), "\(refused)")
            for (file, isRight) in [(right, true), (wrong, false)] {
                let answer = try control(["config", "check", file, "--json"])
                let object = try json(answer.output)
                #expect(answer.exit == .code(isRight ? 0 : 1) && answer.errors.isEmpty, "\(answer)")
                #expect(object["is_right"] as? Bool == isRight)
                let messages = try #require(object["messages"] as? [String])
                #expect(isRight || messages.contains { $0.contains("widht") }, "\(messages)")
            }
        }
    }

    /// Events of a daemon as lines, until the reader has enough.
    @Test(.inItsTurn) func events() async throws {
        try await blocking {
            let stage = try Stage()
            let watch = try ChildProcess(
                ProductExecutable.upcastctl.path, ["events", "--socket", stage.daemon.controlSocket])
            let data = try ChildProcess(
                ProductExecutable.upcastctl.path, ["watch", "--json", "--socket", stage.daemon.controlSocket])
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            try waitFor("the news", evidence: { watch.output + watch.errors }) {
                watch.output.contains(" notice destination live destination=main\n")
                    && data.output.contains(#""message":"destination live""#)
            }
            for line in data.output.split(separator: "\n").dropLast() {
                #expect(try json(String(line))["level"] is String, "\(line)")
            }
            #expect(try watch.stop(SIGTERM) == .signal(15))
            try data.stop(SIGTERM)
            try playback.client.finish()
            try stage.end()
        }
    }

    /// On a terminal: it fits, it ends upon q and upon a signal, and leaves the terminal as it was.
    @Test(.inItsTurn, arguments: ["q", "signal"]) func top(ending: String) async throws {
        try await blocking {
            let stage = try Stage()
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            let folder = try TemporaryDirectory("top")
            let typing = try TestSupport.Pipe()
            // The shell tells the number of top's process, and what the terminal's settings are before and after.
            let program = """
                stty cols 72 rows 18; stty -g > '\(folder.file("before"))'
                sh -c 'echo $$ > "\(folder.file("pid"))"; exec "$@"' sh '\(try ProductExecutable.upcastctl.path)' top \
                --socket '\(stage.daemon.controlSocket)'; echo $? > '\(folder.file("status"))'
                stty -g > '\(folder.file("after"))'
                """
            let terminal = try ChildProcess(
                "script", ["-qfec", program, "/dev/null"], environment: ["NO_COLOR": "", "TERM": "xterm"],
                input: .descriptor(typing.reading.raw))
            try waitFor("the first status", evidence: { terminal.output + terminal.errorTail }) {
                terminal.output.contains("DESTINATION") && terminal.output.contains("\u{1B}[32mlive")
            }
            if ending == "q" {
                #expect(write(typing.writing.raw, "q", 1) == 1)
            } else {
                let number = try String(contentsOfFile: folder.file("pid"), encoding: .utf8)
                kill(try #require(pid_t(number.trimmingCharacters(in: .whitespacesAndNewlines))), SIGTERM)
            }
            #expect(terminal.waitForExit(within: 15) == .code(0), "\(terminal.output.suffix(500))")
            func file(_ name: String) throws -> String {
                try String(contentsOfFile: folder.file(name), encoding: .utf8)
            }
            #expect(try file("status") == (ending == "q" ? "0\n" : "143\n"))
            #expect(try file("before") == file("after"))
            #expect(terminal.output.contains("\u{1B}[?1049h") && terminal.output.contains("\u{1B}[?1049l"))
            #expect(!terminal.output.contains(DaemonSettings.streamKey))
            try playback.client.finish()
            try stage.end()
        }
    }

    /// Into a file or a pipe goes one screen, without anything that acts on a terminal.
    @Test(.inItsTurn) func topWithoutATerminal() async throws {
        try await blocking {
            let stage = try Stage()
            let said = try control(stage.daemon, "top")
            #expect(said.exit == .code(0) && said.output.hasPrefix("idle for "), "\(said)")
            #expect(said.output.contains("main         idle") && !said.output.contains("\u{1B}"))
            let data = try ChildProcess(
                ProductExecutable.upcastctl.path, ["top", "--json", "--socket", stage.daemon.controlSocket])
            try waitFor("two statuses", evidence: { data.output + data.errors }) {
                data.output.split(separator: "\n").count > 2
            }
            for line in data.output.split(separator: "\n").dropLast() {
                #expect(try json(String(line))["state"] as? String == "idle", "\(line)")
            }
            try data.stop(SIGTERM)
            try stage.end()
        }
    }
}
