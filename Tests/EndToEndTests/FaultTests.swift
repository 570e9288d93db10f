import FaultProxy
import Foundation
import IngestProtocol
import LinuxSystem
import MediaCore
import SeededRandom
import TestSupport
import Testing

/// Promise: a broadcast outlives its network, and a viewer never sees a picture that does not decode. Short forms of
/// what `scripts/faults` does at length.
@Suite struct FaultTests {
    /// Goes on sending until something has happened.
    private func send(
        _ sample: (Int) -> RawSample, in playback: Playback, until what: String, within seconds: Int64 = 20,
        at stage: Stage, _ condition: () throws -> Bool
    ) throws {
        let deadline = MonotonicClock().now() + .seconds(seconds)
        var count = 0
        while try !condition() {
            guard MonotonicClock().now() < deadline else {
                throw TestFailure("waited in vain for \(what). \(try stage.daemon.statusText()) \(stage.daemon.log)")
            }
            try playback.client.send(sample(count), pts: playback.now)
            count += 1
            pause(until: MonotonicClock().now() + .milliseconds(50))
        }
    }

    private func send(
        _ number: UInt8, in playback: Playback, until what: String, at stage: Stage, _ condition: () throws -> Bool
    ) throws {
        let sample = NumberedPictures.landscape(number)
        try send({ _ in sample }, in: playback, until: what, at: stage, condition)
    }

    private static let noise = (0..<8).map { seed in
        let format = VideoSampleFormat(packed: .i420, width: 320, height: 180)
        var random = SplitMix64(seed: UInt64(seed))
        let payload = (0..<format.minimumPayloadBytes).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        return RawSample(format: format, payload: payload)
    }

    /// Pictures that take all the bitrate that there is.
    private func noise(_ index: Int) -> RawSample { Self.noise[index % Self.noise.count] }

    /// Attempts back to back, so that tests do not wait for them.
    private func settings(_ change: (inout DaemonSettings) -> Void = { _ in }) -> DaemonSettings {
        var settings = DaemonSettings()
        settings.destinationFields = ["reconnect_first_ms": "100", "reconnect_longest_ms": "200"]
        change(&settings)
        return settings
    }

    /// Picture and sound have come on the newest connection.
    private func isUnderWay(_ stage: Stage) -> Bool {
        guard let segment = stage.arrivals.all.last else { return false }
        return !segment.video.isEmpty && segment.audioPackets > 0
    }

    private func numbers(_ recording: String) throws -> [UInt8] {
        var seen: [UInt8] = []
        try DecodedVideo.forEachFrame(of: recording) { frame in
            if let number = NumberedPictures.number(in: frame.image), number != seen.last { seen.append(number) }
        }
        return seen
    }

    /// Everything of the broadcast that reached the server: as many connections with pictures, each whole from its
    /// first. Returns their recordings.
    @discardableResult
    private func check(_ stage: Stage, recordings count: Int) throws -> [String] {
        // Attempts that came to nothing leave empty files.
        let all = stage.arrivals.all.map(\.path)
        #expect(all.count == count)
        try stage.server.waitForClosed(all)
        for recording in all {
            try stage.checkRecording(recording)
            let first = try MediaProbe.packets(recording).first { $0.track == "video" }
            #expect(first?.isKeyframe == true, "a connection does not begin with a keyframe")
        }
        return all
    }

    @Test(.inItsTurn) func aResetIsFollowedByASecondConnection() async throws {
        try await blocking {
            let stage = try Stage(settings(), behindProxy: true)
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            // However late the first picture was: the second is on the wire for a while.
            let start = stage.arrivals.all.last?.video.last?.timestamp ?? .zero
            try send(2, in: playback, until: "a recording", at: stage) {
                let newest = stage.arrivals.all.last?.video.last?.timestamp ?? .zero
                return isUnderWay(stage) && newest > start + .seconds(1)
            }
            try stage.proxy!.apply(.reset)
            try send(3, in: playback, until: "a second recording", at: stage) {
                stage.arrivals.all.count == 2 && isUnderWay(stage)
            }
            #expect(try playback.client.finish().reason == .finished)
            let recordings = try check(stage, recordings: 2)
            let first = try numbers(recordings[0])
            #expect(first.starts(with: [1, 2]), "\(first)")
            #expect(try numbers(recordings[1]).last == 3)
            // Bug: "dropped=0 sent_all=true", though viewers lost what came between the connections.
            try stage.daemon.waitForLog("broadcast ended")
            let ended = try #require(stage.daemon.log.split(separator: "\n").last { $0.contains("broadcast ended") })
            #expect(ended.contains("sent_all=false") && !ended.contains(" dropped=0"), "\(ended)")
            try stage.end()
            // The stop itself cost nothing.
            try stage.daemon.waitForLog("stopped exit_status=0 sent_all=false")
        }
    }

    @Test(.inItsTurn) func aServerThatComesBackIsFoundAgain() async throws {
        try await blocking {
            let stage = try Stage(settings(), behindProxy: true)
            let playback = try stage.live(showing: NumberedPictures.landscape(1))
            try send(2, in: playback, until: "a recording", at: stage) { isUnderWay(stage) }
            try stage.server.kill()
            try stage.proxy!.apply(.refuse)
            try send(3, in: playback, until: "refused connects", at: stage) { try stage.failures("connect") >= 3 }
            try stage.server.restart()
            try stage.proxy!.apply(.listen)
            try send(4, in: playback, until: "a second recording", at: stage) {
                stage.arrivals.all.count == 2 && isUnderWay(stage)
            }
            #expect(try playback.client.finish().reason == .finished)
            // The first may end in half a packet: its server was killed.
            let second = stage.arrivals.all[1].path
            try stage.server.waitForClosed([second])
            try stage.checkRecording(second)
            #expect(try numbers(second).last == 4)
            try stage.end()
        }
    }

    @Test(.inItsTurn) func theFirstConnectToo() async throws {
        try await blocking {
            let stage = try Stage(settings(), behindProxy: true)
            try stage.proxy!.apply(.refuse)
            let client = try CaptureClient(socket: stage.daemon.ingestSocket)
            try client.start()
            let playback = Playback(client)
            try send(1, in: playback, until: "refused connects", at: stage) { try stage.failures("connect") >= 3 }
            try stage.proxy!.apply(.listen)
            try playback.bringLive(NumberedPictures.landscape(2))
            try send(2, in: playback, until: "a recording", at: stage) { stage.server.recordedBytes > 20_000 }
            try client.finish()
            let recordings = try check(stage, recordings: 1)
            #expect(try numbers(recordings[0]).last == 2)
            try stage.end()
        }
    }

    /// A link that carries less than the broadcast takes: less is asked of the encoder, what is too late is left out,
    /// and once it carries again, packets are on time.
    @Test(.inItsTurn) func aSlowLinkGetsLess() async throws {
        try await blocking {
            let stage = try Stage(settings { $0.video["bitrate_kbps"] = "3000" }, behindProxy: true)
            let playback = try stage.live(showing: noise(0))
            try send(noise, in: playback, until: "a recording", at: stage) { stage.server.recordedBytes > 300_000 }
            try stage.proxy!.apply(.rate(600_000))
            func target() throws -> Int {
                (try stage.daemon.status()["video"] as? [String: Any])?["target_bits_per_second"] as? Int ?? 0
            }
            try send(noise, in: playback, until: "a lower bitrate", at: stage) { try target() < 600_000 }
            try send(noise, in: playback, until: "packets to be on time", at: stage) {
                try stage.destination()["lag_ms"] as? Int ?? .max < 150
            }
            try stage.proxy!.apply(.rate(nil))
            let low = try target()
            // Where a trial failed on the slow link, the next ones take their time, some 24 s each.
            try send(noise, in: playback, until: "a higher bitrate", within: 60, at: stage) {
                try target() > low * 6 / 5
            }
            #expect(try playback.client.finish().reason == .finished)
            try check(stage, recordings: 1)
            try stage.end()
        }
    }

    /// Nothing tells of a path that swallows everything but the acknowledgements that do not come.
    @Test(.inItsTurn) func aPathThatSwallowsIsNoticed() async throws {
        try await blocking {
            let settings = settings {
                $0.destinationFields["ack_timeout_ms"] = "1000"
                $0.destinationFields["handshake_timeout_ms"] = "500"
            }
            let stage = try Stage(settings, behindProxy: true)
            let playback = try stage.live(showing: noise(0))
            try send(noise, in: playback, until: "a recording", at: stage) {
                stage.server.recordedBytes > 1_000_000 && isUnderWay(stage)
            }
            try stage.proxy!.apply(.blackhole)
            try send(noise, in: playback, until: "it to be noticed", at: stage) {
                try stage.failures("acknowledgement_timeout") > 0
            }
            try stage.proxy!.apply(.resume)
            try send(2, in: playback, until: "a second recording", at: stage) {
                stage.arrivals.all.count == 2 && isUnderWay(stage)
            }
            #expect(try playback.client.finish().reason == .finished)
            let recordings = try check(stage, recordings: 2)
            #expect(try numbers(recordings[1]).last == 2)
            try stage.end()
        }
    }

    /// SIGTERM while nothing moves: the process ends within its deadline, and says that not everything was sent.
    @Test(.inItsTurn) func aStopDoesNotWaitForAStalledLink() async throws {
        try await blocking {
            let stage = try Stage(settings { $0.stop["drain_ms"] = "1000" }, behindProxy: true)
            let playback = try stage.live(showing: noise(0))
            try send(noise, in: playback, until: "a recording", at: stage) { stage.server.recordedBytes > 300_000 }
            try stage.proxy!.apply(.stall)
            try send(noise, in: playback, until: "a backlog", at: stage) {
                try stage.destination()["backlog_ms"] as? Int ?? 0 > 300
            }
            let start = MonotonicClock().now()
            #expect(try stage.daemon.terminate() == .code(3), "\(stage.daemon.process.errorTail)")
            let time = MonotonicClock().now() - start
            #expect(time < .seconds(4), "ended after \(time), where 1 s was allowed for draining")
        }
    }

    /// A stalled destination costs the other one nothing.
    @Test(.inItsTurn) func aStalledDestinationCostsTheOtherNothing() async throws {
        try await blocking {
            let other = try NginxRTMP()
            let settings = settings {
                $0.video["bitrate_kbps"] = "3000"
                $0.buffer["max_bytes"] = "1MiB"
                $0.publish(to: other.url, name: "other")
            }
            let stage = try Stage(settings, behindProxy: true)
            let playback = try stage.live(showing: noise(0))
            try send(noise, in: playback, until: "recordings", at: stage) {
                stage.server.recordedBytes > 300_000 && other.recordedBytes > 300_000
            }
            try stage.proxy!.apply(.stall)
            try send(noise, in: playback, until: "a backlog", at: stage) {
                try stage.destination()["backlog_ms"] as? Int ?? 0 > 1000
            }
            // Every packet counts: the times between them are the client's, which the machine may hold up.
            let status = try stage.daemon.status()
            let others = try #require(status["destinations"] as? [[String: Any]]).filter {
                $0["name"] as? String == "other"
            }
            let drops = try #require(others.first?["drops"] as? [String: Any])
            #expect(drops.values.allSatisfy { $0 as? Int == 0 }, "\(drops)")
            let encoded = try stage.daemon.encodedPictures()
            try stage.proxy!.apply(.resume)
            #expect(try playback.client.finish().reason == .finished)
            let recording = try other.finishedRecording()
            try stage.checkRecording(recording)
            let frames = try MediaProbe.packets(recording).count { $0.track == "video" }
            #expect(encoded > 20 && frames >= encoded, "\(frames) frames of \(encoded)")
            try stage.checkRecording(stage.server.finishedRecording())
            #expect(try stage.daemon.terminate() == .code(0), "\(stage.daemon.process.errorTail)")
        }
    }
}
