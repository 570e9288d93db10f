import Foundation
import TestSupport
import Testing

/// Promise: whoever scrapes metrics can do nothing else, and what is done with the operator's token says so.
@Suite struct TokenTests {
    @Test(.inItsTurn) func theMetricsTokenReadsMetrics() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("token")
            let port = try Loopback.freePort()
            var settings = DaemonSettings()
            settings.publish(to: "rtmp://127.0.0.1:\(try Loopback.freePort())/live")
            settings.control = [
                "listen": "\"127.0.0.1:\(port)\"",
                "token_file": try folder.write("operator-0123456789\n", to: "operator"),
                "metrics_token_file": try folder.write("metrics-0123456789\n", to: "metrics"),
            ]
            settings.privacy["audit_file"] = folder.file("audit.json")
            let daemon = try Daemon(settings)
            func status(_ token: String, _ method: String, _ path: String) throws -> Int {
                let headers = ["Authorization": "Bearer \(token)"]
                return try UnixHTTPClient.ask(method, path, port: port, headers: headers).status
            }
            #expect(try status("metrics-0123456789", "GET", "/metrics") == 200)
            for (method, path) in [
                ("GET", "/status"), ("GET", "/config"), ("GET", "/events"), ("GET", "/state"), ("POST", "/stop"),
                ("POST", "/curtain/up"), ("POST", "/curtain/down"), ("POST", "/destinations"), ("GET", "/snapshot.jpg"),
            ] {
                #expect(try status("metrics-0123456789", method, path) == 403, "\(method) \(path)")
                #expect(try status("metrics-0123456780", method, path) == 401, "\(method) \(path)")
            }
            #expect(try status("metrics-0123456789", "GET", "/healthz") == 200)
            #expect(try status("operator-0123456789", "GET", "/metrics") == 200)
            #expect(try status("operator-0123456789", "POST", "/curtain/up") == 200)
            #expect(try daemon.terminate() == .code(0))
            // Who was refused is in the log, and what was shown is not.
            let log = daemon.log
            #expect(
                log.contains("warning control token refused path=/status peer=127.0.0.1 why=\"the token is wrong\""),
                "\(log)")
            #expect(log.matches(of: /ready .* control_listen=127\.0\.0\.1:[0-9]+ .* version=/).count == 1, "\(log)")
            #expect(log.contains("canvas=\"640x360 at 30 frames/s\"") && !log.contains("0123456780"), "\(log)")
            let audit = try String(contentsOfFile: folder.file("audit.json"), encoding: .utf8)
            #expect(audit.contains(#""event":"curtain_raised""#) && audit.contains(#""by":"token""#), "\(audit)")
            #expect(!audit.contains("by_user"), "\(audit)")
        }
    }

    @Test(.inItsTurn) func theTwoTokensDiffer() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("token")
            let token = try folder.write("operator-0123456789\n", to: "operator")
            let path = try folder.write(
                """
                ingest:
                  socket: \(folder.file("a.sock"))
                control:
                  socket: \(folder.file("b.sock"))
                  listen: "127.0.0.1:\(try Loopback.freePort())"
                  token_file: \(token)
                  metrics_token_file: \(token)
                destinations:
                  - url: file:\(folder.file("out.flv"))
                """, to: "upcastd.yaml")
            let daemon = try ChildProcess(ProductExecutable.upcastd.path, ["--config", path])
            #expect(daemon.waitForExit(within: 10) == .code(78), "\(daemon.errors)")
            #expect(
                daemon.errors.contains("control.metrics_token_file: ")
                    && daemon.errors.contains("contains the token of token_file"), "\(daemon.errors)")
        }
    }
}
