import ControlProtocol
import Foundation
import Glibc
import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: whoever is not at the control socket learns of a broadcast by webhooks, and no broadcast waits for them.
@Suite struct WebhookTests {
    private func settings(_ hook: [String: String]) -> DaemonSettings {
        var settings = DaemonSettings()
        settings.webhooks = [["name": "studio", "allow_private": "\"127.0.0.0/8, ::1\""].merging(hook) { $1 }]
        return settings
    }

    private func show(_ playback: Playback, for seconds: Int64) throws {
        var timetable: [(at: MediaTime, action: Playback.Action)] = []
        timetable.show(NumberedPictures.landscape(2), from: .zero, to: .seconds(seconds))
        try playback.play(timetable)
    }

    private func hook(_ daemon: Daemon) throws -> [String: Any] {
        guard let hook = (try daemon.status()["webhooks"] as? [[String: Any]])?.first else {
            throw TestFailure("no webhook in the status")
        }
        return hook
    }

    /// Over TLS with a CA of one's own, to a server that checks each signature itself. Each body is as the document
    /// says, and none has a secret.
    @Test(.inItsTurn) func aReceiverCanCheckEachDelivery() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("webhook")
            let receiver = try CheckingHookServer()
            let events = "ready, air_state_changed, broadcast_started, broadcast_ended, destination_live, stopped"
            let stage = try Stage(
                settings([
                    "url": "\"\(receiver.url)\"", "ca_file": receiver.caFile, "events": events,
                    "secret_file": try folder.write(CheckingHookServer.secret + "\n", to: "secret"),
                ]))
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            try show(playback, for: 1)
            #expect(try playback.client.finish().reason == .finished)
            try waitFor("the end of the broadcast", evidence: { (try? stage.daemon.statusText()) ?? "" }) {
                try receiver.deliveries.contains { $0.body.contains("broadcast_ended") }
            }
            try stage.end()

            let deliveries = try receiver.deliveries
            #expect(deliveries.allSatisfy { $0.isSigned })
            let document = try OpenAPIDocument()
            var types: [String] = []
            for delivery in deliveries {
                let json = try JSONParser.parse(Array(delivery.body.utf8))
                let schema = JSONValue.object([.init("$ref", .string("#/components/schemas/WebhookEvent"))])
                #expect(document.schema.problems(of: json, schema) == [])
                types.append("\(json["type"] ?? .null)")
                for secret in [DaemonSettings.streamKey, CheckingHookServer.secret, "s3cret-path"] {
                    #expect(!delivery.body.contains(secret))
                }
            }
            let states = try deliveries.compactMap { delivery -> String? in
                let json = try JSONParser.parse(Array(delivery.body.utf8))
                return json["type"] == .string("air_state_changed") ? json["data"]?["state"]?.description : nil
            }
            #expect(types.first == "ready" && types.last == "stopped", "\(types)")
            #expect(Set(types) == Set(events.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }))
            #expect(states.contains("on_air") && states.last == "idle", "\(states)")
            #expect(!stage.daemon.log.contains("s3cret-path") && !stage.daemon.log.contains(CheckingHookServer.secret))
        }
    }

    /// A certificate of somebody else: nothing is sent, and the status says why.
    @Test(.inItsTurn) func anUntrustedReceiverGetsNothing() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("webhook")
            let (receiver, other) = (try CheckingHookServer(), try CheckingHookServer())
            let stage = try Stage(
                settings([
                    "url": "\"\(receiver.url)\"", "ca_file": other.caFile, "events": "ready", "max_attempts": "1",
                    "secret_file": try folder.write(CheckingHookServer.secret, to: "secret"),
                ]))
            try waitFor("the failure", evidence: { stage.daemon.log }) { try hook(stage.daemon)["failed"] as? Int == 1 }
            let error = try hook(stage.daemon)["last_error"] as? String
            #expect(error?.contains("certificate") == true, "\(error ?? "none")")
            // The hook's thread counts the failure first, and writes the line afterwards.
            try stage.daemon.waitForLog("webhook delivery failed")
            #expect(try receiver.deliveries.isEmpty)
            try stage.end()
        }
    }

    /// Bodies that no server reads cost the broadcast no frame, and its end does not wait for them.
    @Test(.inItsTurn) func aReceiverThatHangsCostsNoFrame() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("webhook")
            let receiver = try HookServer(.hang)
            let stage = try Stage(
                settings([
                    "url": "\"\(receiver.url)\"", "timeout_ms": "60000",
                    "events": "ready, log_level_set, air_state_changed, broadcast_started, broadcast_ended",
                    "secret_file": try folder.write(CheckingHookServer.secret, to: "secret"),
                ]))
            try receiver.waitForConnections(1)
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            // More events than there is room for. Some of them are left out, as in the log.
            for index in 0..<100 {
                let level = index % 2 == 0 ? "debug" : "info"
                let response = try UnixHTTPClient.ask(
                    "POST", "/log-level", body: #"{"level":"\#(level)"}"#, socket: stage.daemon.controlSocket)
                #expect(response.status == 200)
            }
            try show(playback, for: 2)
            let queued = try #require(try hook(stage.daemon)["queued"] as? Int)
            #expect(queued > 10 && queued <= 65)
            #expect(try playback.client.finish().reason == .finished)
            let recording = try stage.server.finishedRecording()
            try stage.checkRecording(recording)
            let ended = try waitFor("the end of the broadcast") {
                stage.daemon.log.split(separator: "\n").last { $0.contains("broadcast ended") }
            }
            #expect(ended.contains(" dropped=0 ") && ended.contains("frames_dropped=0"), "\(ended)")
            #expect(ended.contains("sent_all=true"), "\(ended)")
            #expect(receiver.requests.count == 1)
            try stage.end()
        }
    }

    /// A reload puts other hooks into force while the daemon runs.
    @Test(.inItsTurn) func hooksAreReloaded() async throws {
        try await blocking {
            let folder = try TemporaryDirectory("webhook")
            let (first, second) = (try HookServer(.answer(200)), try HookServer(.answer(200)))
            let secret = try folder.write(CheckingHookServer.secret, to: "secret")
            let fields = ["secret_file": secret, "events": "ready, configuration_reloaded, log_level_set"]
            var settings = settings(fields.merging(["url": "\"\(first.url)\""]) { $1 })
            settings.publish(to: "rtmp://127.0.0.1:\(try Loopback.freePort())/live")
            let daemon = try Daemon(settings)
            _ = try first.waitForRequests(1)
            settings.webhooks[0]["url"] = "\"\(second.url)\""
            try daemon.rewrite(settings)
            daemon.process.signal(SIGHUP)
            let reloaded = try #require(try second.waitForRequests(1).first)
            let data = try #require(try reloaded.json["data"] as? [String: Any])
            #expect(data["applied"] as? [String] == ["webhook studio changed"])
            #expect(first.requests.count == 1)
            // The daemon counts the delivery after it has read the answer.
            try waitFor("the delivery to be counted", evidence: { daemon.log }) {
                try hook(daemon)["delivered"] as? Int ?? 0 >= 1
            }
            let configuration = try UnixHTTPClient.get("/config", socket: daemon.controlSocket).body
            #expect(configuration.contains("127.0.0.1:\(second.port)/***"), "\(configuration)")
            settings.webhooks = []
            try daemon.rewrite(settings)
            daemon.process.signal(SIGHUP)
            try waitFor("the hook to be gone") { try daemon.status()["webhooks"] as? [[String: String]] == [] }
            #expect(try daemon.terminate() == .code(0))
        }
    }
}
