import Foundation
import Glibc
import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// Promise: a disk that hangs holds up nothing but what is written to it.
@Suite(.enabled(if: HangingDisk.unavailable == nil, "needs a FUSE file system (root, /dev/fuse)"))
struct HangingDiskTests {
    private static let picture = NumberedPictures.landscape(1)

    private func post(_ daemon: Daemon, _ path: String) throws {
        let began = MonotonicClock().now()
        let answer = try UnixHTTPClient.ask("POST", path, body: "", socket: daemon.controlSocket)
        #expect(answer.status == 200, "\(path): \(answer)")
        let took = MonotonicClock().now() - began
        #expect(took < .milliseconds(Int64(Patience.scaled(1_000))), "\(path) was answered after \(took)")
    }

    private func auditLost(_ daemon: Daemon) throws -> Int {
        let privacy = try daemon.status()["privacy"] as? [String: Any]
        return try #require(privacy?["audit_lost"] as? Int)
    }

    /// The audit log's events, without the lines about lines.
    private func events(_ disk: HangingDisk) -> Int {
        disk.contents("audit.json").split(separator: "\n").count { $0.contains(#""event":"curtain_"#) }
    }

    /// Everything goes on; the lines that found no room are counted, and the file says how many it lacks.
    @Test(.inItsTurn) func theAuditLogsDisk() async throws {
        try await blocking {
            let disk = try HangingDisk()
            let manager = try ServiceManager()
            let folder = try TemporaryDirectory("flv")
            var settings = DaemonSettings()
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            settings.privacy["audit_file"] = disk.file("audit.json")
            let daemon = try Daemon(
                settings, environment: manager.environment.merging(["WATCHDOG_USEC": "4000000"]) { $1 })
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            let playback = Playback(client)
            try playback.bringLive(Self.picture)
            var told = 2
            try waitFor("the first lines", evidence: { disk.contents("audit.json") }) { events(disk) == told }

            disk.hang()
            try post(daemon, "/curtain/up")
            try post(daemon, "/curtain/down")
            told += 2
            try waitFor("a line to wait for the disk") { disk.waiting > 0 }
            let (fed, frames) = (manager.count("WATCHDOG=1"), try daemon.encodedPictures())
            // Two seconds of the watchdog's: it would have ended the daemon.
            try waitFor("the watchdog to be fed", evidence: { "\(manager.news) \(daemon.log)" }) {
                try client.send(Self.picture, pts: playback.now)
                pause(until: MonotonicClock().now() + .milliseconds(30))
                return manager.count("WATCHDOG=1") >= fed + 5
            }
            try waitFor("pictures to be encoded") { try daemon.encodedPictures() >= frames + 20 }
            let health = try UnixHTTPClient.get("/healthz", socket: daemon.controlSocket)
            #expect(health.status == 200, "\(health)")
            try daemon.waitForLog("audit log waits for its disk")
            for _ in 0..<300 {
                try post(daemon, "/curtain/up")
                try post(daemon, "/curtain/down")
                told += 2
            }
            let lost = try auditLost(daemon)
            #expect(lost > 0 && events(disk) == 2)

            disk.recover()
            try waitFor("the rest of the lines", evidence: { "\(events(disk)) of \(told), \(lost) lost" }) {
                let said = #""event":"lines_lost","lines":\#(lost)}"#
                return events(disk) + lost == told && disk.contents("audit.json").contains(said)
            }
            try waitFor("the log to say so", evidence: { daemon.log }) {
                daemon.log.contains("audit log written again lost=\(lost)")
            }
            #expect(try auditLost(daemon) == lost)
            try client.finish()
            #expect(try daemon.terminate() == .code(0), "\(daemon.log)")
            #expect(!daemon.log.contains("hangs now="), "\(daemon.log)")
        }
    }

    /// What the disk has not taken when the daemon ends is said, and keeps it for a second only. (The kernel lets no
    /// process go that is in the middle of a write; that is the disk's.)
    @Test(.inItsTurn) func theEnd() async throws {
        try await blocking {
            let disk = try HangingDisk()
            let folder = try TemporaryDirectory("flv")
            var settings = DaemonSettings()
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            settings.privacy["audit_file"] = disk.file("audit.json")
            let daemon = try Daemon(settings)
            disk.hang()
            for _ in 0..<3 {
                try post(daemon, "/curtain/up")
                try post(daemon, "/curtain/down")
            }
            daemon.process.signal(SIGTERM)
            try waitFor("the end", within: 5, evidence: { daemon.log }) {
                daemon.log.contains(" stopped exit_status=0 sent_all=true")
            }
            try daemon.waitForLog("audit log not written lost=6")
            disk.recover()
            #expect(try daemon.terminate() == .code(0), "\(daemon.log)")
        }
    }

    /// What is hidden is hidden at once; that a restart would forget it, the answer says after half a second.
    @Test(.inItsTurn) func theStateFilesDisk() async throws {
        try await blocking {
            let disk = try HangingDisk()
            let manager = try ServiceManager()
            let folder = try TemporaryDirectory("flv")
            var settings = DaemonSettings()
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            settings.privacy["state_file"] = disk.file("state.json")
            let daemon = try Daemon(
                settings, environment: manager.environment.merging(["WATCHDOG_USEC": "4000000"]) { $1 })
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            let playback = Playback(client)
            try playback.bringLive(Self.picture)
            func persisted(_ path: String) throws -> Bool? {
                let answer = try UnixHTTPClient.ask("POST", path, body: "", socket: daemon.controlSocket)
                #expect(answer.status == 200, "\(path): \(answer)")
                let fields = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
                return fields?["persisted"] as? Bool
            }
            #expect(try persisted("/curtain/up") == true)
            #expect(try persisted("/curtain/down") == true)

            disk.hang()
            #expect(try persisted("/curtain/up") == false)
            try waitFor("the disk to be asked") { disk.waiting > 0 }
            let privacy = try daemon.status()["privacy"] as? [String: Any]
            #expect((privacy?["curtain"] as? [String: Any])?["up"] as? Bool == true, "\(privacy ?? [:])")
            let (fed, frames) = (manager.count("WATCHDOG=1"), try daemon.encodedPictures())
            // Two seconds of the watchdog's: it would have ended the daemon.
            try waitFor("the watchdog to be fed", evidence: { "\(manager.news) \(daemon.log)" }) {
                try client.send(Self.picture, pts: playback.now)
                pause(until: MonotonicClock().now() + .milliseconds(30))
                return manager.count("WATCHDOG=1") >= fed + 5
            }
            try waitFor("pictures to be encoded") { try daemon.encodedPictures() >= frames + 10 }
            let health = try UnixHTTPClient.get("/healthz", socket: daemon.controlSocket)
            #expect(health.status == 200, "\(health)")
            try daemon.waitForLog("state file not written")

            disk.recover()
            try waitFor("the log to say so", evidence: { daemon.log }) {
                daemon.log.contains("state file written again")
            }
            #expect(disk.contents("state.json").contains("operator"), "\(disk.contents("state.json"))")
            #expect(try persisted("/curtain/down") == true)
            try client.finish()
            #expect(try daemon.terminate() == .code(0), "\(daemon.log)")
        }
    }

    /// A destination whose stream key cannot be read is named, and is the only one that waits.
    @Test(.inItsTurn) func theStreamKeysDisk() async throws {
        try await blocking {
            let disk = try HangingDisk()
            let manager = try ServiceManager()
            let folder = try TemporaryDirectory("flv")
            disk.put("k3y".utf8, "key")
            var settings = DaemonSettings()
            settings.stop = ["drain_ms": "500"]
            settings.destinations = [
                ("slow", ["url": "rtmp://127.0.0.1:9/live", "key_file": disk.file("key")]),
                ("file", ["url": "file:" + folder.file("out.flv")]),
            ]
            let daemon = try Daemon(
                settings, environment: manager.environment.merging(["WATCHDOG_USEC": "4000000"]) { $1 })
            disk.hang()
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            let playback = Playback(client)
            // The client is not told "live": its only server is away.
            try waitFor("the recording", evidence: { (try? daemon.statusText()) ?? "no status" }) {
                try client.send(Self.picture, pts: playback.now)
                pause(until: MonotonicClock().now() + .milliseconds(30))
                return (try daemon.status()["air"] as? [String: Any])?["recording"] as? Bool == true
            }
            let sentence = "the disk of key_file \(disk.file("key")) has not answered for"
            try waitFor("the log to say so", evidence: { daemon.log }) {
                try client.send(Self.picture, pts: playback.now)
                pause(until: MonotonicClock().now() + .milliseconds(30))
                return daemon.log.contains(sentence)
            }
            let destinations = try daemon.status()["destinations"] as? [[String: Any]]
            let slow = destinations?.first { $0["name"] as? String == "slow" }
            #expect((slow?["last_error"] as? String)?.contains(sentence) == true, "\(slow ?? [:])")
            let health = try UnixHTTPClient.get("/healthz", socket: daemon.controlSocket)
            #expect(health.status == 200, "\(health)")
            #expect(try client.finish().reason == .finished)
            try daemon.waitForLog("has not ended: its thread waits for the disk of key_file")
            disk.recover()
            _ = try daemon.terminate()
            #expect(try !FLVRecording(folder.file("out.flv")).tags.isEmpty)
        }
    }

    /// A request that names a file on such a disk is refused after a while; everything else is answered meanwhile.
    @Test(.inItsTurn) func aRequestsDisk() async throws {
        try await blocking {
            let disk = try HangingDisk()
            let folder = try TemporaryDirectory("flv")
            var settings = DaemonSettings()
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            settings.control["secrets_folder"] = (disk.file("key") as NSString).deletingLastPathComponent
            let daemon = try Daemon(settings)
            disk.put("k3y".utf8, "key")
            disk.hang()
            let refused = Monitor<Int?>(nil)
            let socket = daemon.controlSocket
            let body = #"{"name": "second", "url": "rtmp://127.0.0.1:9/live", "key_file": "key"}"#
            let asking = Thread {
                let status = (try? UnixHTTPClient.ask("POST", "/destinations", body: body, socket: socket).status) ?? 0
                refused.signal { $0 = status }
            }
            asking.start()
            try waitFor("the request to wait for the disk") { disk.waiting > 0 }
            try post(daemon, "/curtain/up")
            try post(daemon, "/curtain/down")
            let health = try UnixHTTPClient.get("/healthz", socket: daemon.controlSocket)
            #expect(health.status == 200, "\(health)")
            #expect(refused.withLock { $0 } == nil)
            // One that names no file does not wait for it.
            let plain = try UnixHTTPClient.ask(
                "POST", "/destinations", body: #"{"name": "third", "url": "rtmp://127.0.0.1:9/live", "key": "k"}"#,
                socket: daemon.controlSocket)
            #expect(plain.status == 200, "\(plain)")
            #expect(refused.wait(until: Patience.deadline(15)) { $0 } == 500)
            disk.recover()
            // The one before is over, and was not added.
            let answer = try UnixHTTPClient.ask("POST", "/destinations", body: body, socket: daemon.controlSocket)
            #expect(answer.status == 200, "\(answer)")
            let names = (try daemon.status()["destinations"] as? [[String: Any]])?.compactMap { $0["name"] as? String }
            #expect(names == ["file", "third", "second"])
            _ = try daemon.terminate()
        }
    }

    /// A capture client that shares a file on such a disk as memory is refused, and the ingest thread goes on.
    @Test(.inItsTurn) func aDescriptorsDisk() async throws {
        try await blocking {
            let disk = try HangingDisk()
            let folder = try TemporaryDirectory("flv")
            var settings = DaemonSettings()
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            let daemon = try Daemon(settings)
            disk.put("memory".utf8, "shared")
            let shared = OwnedDescriptor(open(disk.file("shared"), O_RDWR | O_CLOEXEC))
            try #require(shared.raw >= 0)
            // On every way out before the file is closed here.
            defer { disk.recover() }
            let client = try UnixSocket.connect(path: daemon.ingestSocket)
            var limit = timeval(tv_sec: Int(Patience.scaled(10)), tv_usec: 0)
            setsockopt(client.raw, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            var bytes: [UInt8] = []
            StartedMessage(clientName: "t", convention: .exif).encode(sequence: 0, into: &bytes)
            #expect(send(client.raw, bytes, bytes.count, 0) == bytes.count)
            disk.hang()
            bytes = []
            SharedMemoryMessage(pool: 1, byteCount: 4096).encode(sequence: 1, into: &bytes)
            let sent = try bytes.withUnsafeBytes { try UnixSocket.send($0, with: shared.raw, to: client.raw) }
            #expect(sent == bytes.count)
            // A welcome comes first, and whatever else the daemon has to say.
            var answer: [UInt8] = []
            var room = [UInt8](repeating: 0, count: 4096)
            let refusal = "sharedMemory: memory 1 was refused"
            while !String(decoding: answer, as: UTF8.self).contains(refusal) {
                let count = recv(client.raw, &room, room.count, 0)
                guard count > 0 else { break }
                answer += room[..<count]
            }
            #expect(String(decoding: answer, as: UTF8.self).contains(refusal))
            let health = try UnixHTTPClient.get("/healthz", socket: daemon.controlSocket)
            #expect(health.status == 200, "\(health)")
            disk.recover()
            _ = try daemon.terminate()
        }
    }

    /// A reload whose file cannot be read is done when it can; the broadcast and the watchdog do not wait for it.
    @Test(.inItsTurn) func theConfigurationsDisk() async throws {
        try await blocking {
            let disk = try HangingDisk()
            let manager = try ServiceManager()
            let folder = try TemporaryDirectory("flv")
            var settings = DaemonSettings()
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            let daemon = try Daemon(
                settings, environment: manager.environment.merging(["WATCHDOG_USEC": "4000000"]) { $1 })
            let path = (daemon.controlSocket as NSString).deletingLastPathComponent + "/upcastd.yaml"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            disk.put((text + "log:\n  level: debug\n").utf8, "upcastd.yaml")
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(
                atPath: path, withDestinationPath: disk.file("upcastd.yaml"))

            try waitFor("READY") { manager.count("READY=1") == 1 }
            disk.hang()
            daemon.process.signal(SIGHUP)
            try waitFor("the file to be asked for") { disk.waiting > 0 }
            let fed = manager.count("WATCHDOG=1")
            // Six seconds of the watchdog's: it would have ended the daemon, and five are what reading may take.
            try waitFor("the watchdog to be fed", within: 20, evidence: { "\(manager.news) \(daemon.log)" }) {
                manager.count("WATCHDOG=1") >= fed + 12
            }
            let health = try UnixHTTPClient.get("/healthz", socket: daemon.controlSocket)
            #expect(health.status == 200, "\(health)")
            try waitFor("the log to say so", evidence: { daemon.log }) { daemon.log.contains("its disk hangs") }
            #expect(manager.count("READY=1") == 1)

            disk.recover()
            try waitFor("the reload", evidence: { "\(manager.news) \(daemon.log)" }) {
                daemon.log.contains("applied=\"log.level debug\"") && manager.count("READY=1") == 2
            }
            #expect(try daemon.terminate() == .code(0), "\(daemon.log)")
        }
    }

    /// A broadcast begins without the curtain's picture where that cannot be read.
    @Test(.inItsTurn) func theCurtainsPicturesDisk() async throws {
        try await blocking {
            let disk = try HangingDisk()
            let folder = try TemporaryDirectory("flv")
            _ = try ChildProcess.run(
                "ffmpeg",
                [
                    "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", "color=0x00c000:s=300x300", "-frames:v", "1",
                    folder.file("curtain.png"),
                ])
            disk.put(try Data(contentsOf: URL(fileURLWithPath: folder.file("curtain.png"))), "curtain.png")
            var settings = DaemonSettings()
            settings.destinations.append((name: "file", fields: ["url": "file:" + folder.file("out.flv")]))
            settings.privacy = ["curtain_style": "picture", "curtain_picture": disk.file("curtain.png")]
            let daemon = try Daemon(settings)
            for isHanging in [true, false] {
                if isHanging { disk.hang() }
                let client = try CaptureClient(socket: daemon.ingestSocket)
                try client.start()
                if isHanging { try waitFor("the picture to be asked for") { disk.waiting > 0 } }
                #expect((disk.waiting > 0) == isHanging)
                try Playback(client).bringLive(Self.picture)
                disk.recover()
                try client.finish()
            }
            try daemon.waitForLog("no picture for the curtain")
            let warnings = daemon.log.split(separator: "\n").filter { $0.contains("no picture for the curtain") }
            #expect(warnings.count == 1 && warnings[0].contains("its disk hangs"), "\(daemon.log)")
            #expect(try daemon.terminate() == .code(0), "\(daemon.log)")
        }
    }

    /// A recording whose disk hangs is left behind: the broadcast ends, and the next one begins.
    @Test(.inItsTurn) func theRecordingsDisk() async throws {
        try await blocking {
            let disk = try HangingDisk()
            let folder = try TemporaryDirectory("flv")
            var settings = DaemonSettings()
            settings.stop = ["drain_ms": "500"]
            settings.destinations = [
                ("slow", ["url": "file:" + disk.file("slow.flv")]), ("file", ["url": "file:" + folder.file("out.flv")]),
            ]
            let daemon = try Daemon(settings)
            for number in 1...2 {
                let client = try CaptureClient(socket: daemon.ingestSocket)
                try client.start()
                let playback = Playback(client)
                try playback.bringLive(Self.picture)
                if number == 1 {
                    disk.hang()
                    try waitFor("the recording to hang") {
                        try client.send(Self.picture, pts: playback.now)
                        pause(until: MonotonicClock().now() + .milliseconds(30))
                        return disk.waiting > 0
                    }
                }
                let goodbye = try client.finish()
                #expect(goodbye.reason == .finished, "\(goodbye)")
            }
            try daemon.waitForLog("hangs at its end; what it has not written is lost")
            disk.recover()
            #expect(try daemon.terminate() == .code(0), "\(daemon.log)")
            #expect(try !FLVRecording(folder.file("out.flv")).tags.isEmpty)
            #expect(try !FLVRecording(folder.file("out-2.flv")).tags.isEmpty)
        }
    }
}
