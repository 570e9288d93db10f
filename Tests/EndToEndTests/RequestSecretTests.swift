import Foundation
import Glibc
import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: a request reads no secret of the daemon's but those that the operator placed for it, and shows none.
@Suite struct RequestSecretTests {
    private func add(_ daemon: Daemon, _ members: [String: String]) throws -> UnixHTTPClient.Response {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: members), as: UTF8.self)
        return try UnixHTTPClient.ask("POST", "/destinations", body: body, socket: daemon.controlSocket)
    }

    /// Publishes to nobody: only what is asked of the control server counts.
    private func daemon(_ control: [String: String] = [:]) throws -> Daemon {
        var settings = DaemonSettings()
        settings.control = control
        settings.publish(to: "rtmp://127.0.0.1:\(try Loopback.freePort())/live")
        return try Daemon(settings, environment: ["CREDENTIALS_DIRECTORY": "/etc"])
    }

    @Test(.inItsTurn) func aRequestReadsNothingElse() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("secrets")
            let secret = try folder.write("not-for-requests\n", to: "secret")
            let daemon = try daemon()
            let url = "rtmp://127.0.0.1:\(try Loopback.freePort())/live"
            for (name, value, why) in [
                ("key_file", secret, "control.secrets_folder"), ("login_file", secret, "control.secrets_folder"),
                ("key_file", "credential:passwd", "cannot name a credential"),
                ("key_env", DaemonSettings.keyVariable, "cannot name an environment variable"),
                ("login_env", DaemonSettings.keyVariable, "cannot name an environment variable"),
            ] {
                let answer = try add(daemon, ["name": "x", "url": url + "/key", name: value])
                #expect(answer.status == 400, "\(name): \(value): \(answer)")
                #expect(answer.body.contains(why) && answer.body.contains(name), "\(answer)")
                #expect(!answer.body.contains("not-for-requests") && !answer.body.contains(DaemonSettings.streamKey))
            }
            let authority = try add(daemon, ["name": "x", "url": "rtmps://127.0.0.1/live/key", "ca_file": secret])
            #expect(authority.status == 400 && authority.body.contains("control.secrets_folder"), "\(authority)")
            #expect(try daemon.terminate() == .code(0))
        }
    }

    /// Also as Kubernetes mounts a Secret: links to a folder beside them.
    @Test(.inItsTurn) func filesAreBeneathTheFolder() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("secrets")
            _ = try folder.write("outside\n", to: "outside")
            let secrets = folder.file("secrets")
            let files = FileManager.default
            try files.createDirectory(atPath: secrets + "/..2026", withIntermediateDirectories: true)
            try files.createSymbolicLink(atPath: secrets + "/..data", withDestinationPath: "..2026")
            try files.createSymbolicLink(atPath: secrets + "/key", withDestinationPath: "..data/key")
            try files.createSymbolicLink(atPath: secrets + "/escape", withDestinationPath: "../outside")
            try files.createSymbolicLink(atPath: secrets + "/absolute", withDestinationPath: folder.file("outside"))
            _ = try folder.write("from-the-folder\n", to: "secrets/..2026/key")
            let daemon = try daemon(["secrets_folder": secrets])
            let url = "rtmp://127.0.0.1:\(try Loopback.freePort())/live"
            for name in ["escape", "absolute", "../outside", folder.file("outside"), "..data/../../outside"] {
                let answer = try add(daemon, ["name": "x", "url": url, "key_file": name])
                #expect(answer.status == 400, "\(name)")
                #expect(answer.body.contains("is not beneath"), "\(name): \(answer)")
            }
            let credential = try add(daemon, ["name": "x", "url": url, "key_file": "credential:passwd"])
            #expect(credential.status == 400, "\(credential)")
            #expect(try add(daemon, ["name": "x", "url": url, "key_file": "key"]).status == 200)
            let configuration = try UnixHTTPClient.get("/config", socket: daemon.controlSocket).body
            #expect(configuration.contains("\"key_file\":\"key\"") && !configuration.contains("from-the-folder"))
            #expect(try daemon.terminate() == .code(0))
        }
    }

    /// The key comes with the request, goes to the server, and is seen nowhere else.
    @Test(.inItsTurn) func aKeyIsSentAlong() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("secrets")
            let stage = try Stage(DaemonSettings(bitrateKilobits: 2_000))
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            let second = try NginxRTMP()
            let control = try ChildProcess(
                ProductExecutable.upcastctl.path,
                [
                    "destination", "add", "second", second.url, "--key-file",
                    try folder.write("key-of-the-request\nanother line\n", to: "key"), "--socket",
                    stage.daemon.controlSocket,
                ])
            #expect(control.waitForExit(within: 15) == .code(0), "\(control.errors)")
            try waitFor("the second to record", evidence: { stage.daemon.log }) {
                try playback.client.send(NumberedPictures.landscape(2), pts: playback.now, orientation: .up)
                return second.recordings.contains { $0.contains("key-of-the-request") } && second.recordedBytes > 5_000
            }
            let paths = ["/config", "/status", "/destinations"]
            let seen = try paths.map { try UnixHTTPClient.get($0, socket: stage.daemon.controlSocket).body }.joined()
            #expect(seen.contains("second") && !seen.contains("key-of-the-request"), "\(seen)")
            #expect(!stage.daemon.log.contains("key-of-the-request") && !control.output.contains("key-of-the-request"))
            #expect(try playback.client.finish().reason == .finished)
            #expect(try stage.daemon.terminate() == .code(0), "\(stage.daemon.process.errorTail)")
        }
    }

    /// A file that is larger than a certificate costs no memory: the plan has nothing for it.
    @Test(
        .inItsTurn, .enabled(if: geteuid() == 0, "only root can reset another process's peak"),
        .enabled(if: !Patience.isSanitized, "a sanitizer takes memory of its own"))
    func certificatesCostNoMemory() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("secrets")
            _ = try folder.write(String(repeating: "# no certificate in this line\n", count: 6_800), to: "ca.pem")
            let daemon = try daemon(["secrets_folder": folder.path])
            func ask() throws {
                let answer = try add(daemon, ["name": "x", "url": "rtmps://127.0.0.1/live/key", "ca_file": "ca.pem"])
                #expect(answer.status == 400 && answer.body.contains("contains no certificate"), "\(answer)")
            }
            try ask()
            // What was resident at the start would hide it: the peak is counted anew from here (proc(5)).
            try "5".write(toFile: "/proc/\(daemon.process.processID)/clear_refs", atomically: false, encoding: .utf8)
            let before = try #require(daemon.figures?.peakResidentBytes)
            for _ in 0..<20 { try ask() }
            let after = try #require(daemon.figures?.peakResidentBytes)
            #expect(after - before < 256 * 1024, "\(before) bytes before, \(after) after")
            #expect(try daemon.terminate() == .code(0))
        }
    }
}
