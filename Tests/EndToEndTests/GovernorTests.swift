import Foundation
import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: before memory runs out the daemon gives up, in a stated order, what the broadcast can do without, and the
/// broadcast goes on whole.
@Suite struct GovernorTests {
    /// The limit of a real cgroup comes down on a live broadcast until everything has been given up.
    @Test func aTighteningCgroupTakesEveryStep() async throws {
        try await blocking {
            let cgroup: MemoryCgroup
            do { cgroup = try MemoryCgroup(limitBytes: 300 << 20) } catch {
                print("governor: no cgroup here, which pipeline tests do without: \(error)")
                return
            }
            var settings = DaemonSettings()
            settings.video["threads"] = "2"
            settings.buffer = ["max_bytes": "\(8 << 20)", "duration_ms": "20000"]
            settings.memory = ["cap_bytes": "\(200 << 20)"]
            let stage = try Stage(settings, in: cgroup)
            let pictures = [1, 2].map { (number: UInt8) in
                RawSample(ReferencePicture(width: 640, height: 360, number: number).image, format: .nv12FullRange)
            }
            let playback = try stage.live(showing: pictures[0])
            func memory() throws -> [String: Any] { try stage.daemon.status()["memory"] as? [String: Any] ?? [:] }
            func given() throws -> Set<String> { Set((try memory()["given_up"] as? [String: Any] ?? [:]).keys) }
            #expect(try given().isEmpty)
            let bound = try memory()["limit"] as? String ?? ""
            #expect(bound == "memory.cap_bytes" || bound.hasPrefix("memory cgroup "), "\(bound)")

            let steps = ["half_log", "least_log", "two_pictures", "one_thread", "no_subpixel_motion"]
            var neededBefore = 0
            try waitFor("every step to be taken", within: 60, evidence: { (try? stage.daemon.statusText()) ?? "" }) {
                for (index, picture) in pictures.enumerated() {
                    let at = MediaTime.milliseconds(Int64(index) * 50)
                    try playback.play([(at, { try $0.send(picture, pts: $1, orientation: .up) })])
                }
                let taken = try given()
                if taken.count < steps.count, let needed = try memory()["needed_bytes"] as? Int {
                    // An encoder that is being opened again has given its memory back, and needs most of it at once.
                    // Of two looks with frames between them, one is not of such a moment.
                    let most = max(needed, neededBefore)
                    neededBefore = needed
                    // What is left is less than a thirty-second.
                    try? cgroup.setLimit(most + most / 50)
                }
                return taken == Set(steps)
            }
            try cgroup.setLimit(300 << 20)
            try playback.play((0..<30).map { frame in
                (.milliseconds(frame * 33), { try $0.send(pictures[Int(frame) % 2], pts: $1, orientation: .up) })
            })
            try stage.daemon.waitForLog("again without subpixel motion")
            let log = stage.daemon.log
            let places = [
                "holds half, and", "than a late destination needs", "two pictures instead", "again with one thread",
                "again without subpixel motion",
            ].map { log.range(of: $0)?.lowerBound }
            #expect(places.allSatisfy { $0 != nil } && places.compactMap { $0 } == places.compactMap { $0 }.sorted())
            _ = try playback.client.finish()
            try stage.checkRecording(stage.server.finishedRecording())
            #expect(cgroup.kills == 0)
            try stage.end()
        }
    }
}
