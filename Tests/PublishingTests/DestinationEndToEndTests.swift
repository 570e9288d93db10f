import Buffering
import Endpoints
import FLV
import LinuxSystem
import MediaCore
@testable import Publishing
import TestSupport
import Testing

/// Packets through log, destination and a real nginx-rtmp into a recording.
@Suite(.enabled(if: NginxRTMP.isInstalled), .serialized) struct DestinationEndToEndTests {
    private func settings(
        _ url: String, _ change: (inout RTMPDestinationSettings) -> Void = { _ in }
    ) throws -> DestinationSettings {
        var rtmp = RTMPDestinationSettings(endpoint: try RTMPEndpoint(url), key: Secret("show"))
        change(&rtmp)
        return DestinationSettings(name: "main", kind: .rtmp(rtmp), cursorPolicy: .keepEverything)
    }

    struct Case: Sendable {
        var offset: Int64
        var chunkSize: Int
    }

    /// From zero; across 0xFFFFFF ms (4 h 39 m), where timestamps get four more bytes; across 2^32 ms (49.7 days).
    @Test(arguments: [
        Case(offset: 0, chunkSize: 65_536), Case(offset: 0, chunkSize: 128), Case(offset: 16_775_000, chunkSize: 4096),
        Case(offset: 16_780_000, chunkSize: 128), Case(offset: 4_294_965_000, chunkSize: 65_536),
    ]) func everyByteArrives(_ test: Case) throws {
        let fixture = try FLVFixture.shared.get()
        let nginx = try NginxRTMP()
        let run = try DestinationRun(
            settings("rtmp://127.0.0.1:\(nginx.port)/live") {
                $0.chunkSize = test.chunkSize
                $0.acknowledgementWindow = 100_000
            },
            log: FLVFixture.log(), format: fixture.format)
        try run.feed(fixture, offset: .milliseconds(test.offset))
        try run.wait(until: "the server acknowledged something") { $0.bytesAcknowledged ?? 0 > 0 }
        run.stop()

        #expect(run.said == ["connecting", "publishing", "stopping", "stopped"])
        let recording = try nginx.recording(videoPackets: fixture.recording.video.count)
        // nginx shifts timestamps to its own zero.
        let start = recording.video[0].timestamp
        let expected = fixture.recording.video
        #expect(recording.video.map { $0.timestamp &- start } == expected.map(\.timestamp))
        #expect(recording.video.map(\.isKeyframe) == expected.map(\.isKeyframe))
        #expect(zip(recording.video, expected).allSatisfy { $0.payload == $1.payload })
        let audio = (recording.audio, fixture.recording.audio)
        #expect(audio.0.count == audio.1.count && zip(audio.0, audio.1).allSatisfy { $0.payload == $1.payload })
        #expect(recording.decoderConfiguration == fixture.recording.decoderConfiguration)
        #expect(recording.audioSpecificConfig == fixture.recording.audioSpecificConfig)
        if test.offset == 0 { #expect(try decodingErrors(nginx.recordings[0]) == "") }

        let snapshot = run.destination.snapshot
        #expect(snapshot.state == .stopped && snapshot.isDrained && snapshot.lastError == nil)
        #expect(snapshot.video.packets == 120 && snapshot.audio.packets == fixture.recording.audio.count)
        #expect(snapshot.video.bytes == fixture.recording.video.reduce(0) { $0 + $1.payload.count })
        #expect(snapshot.drops == DropCounters() && snapshot.backlog == CursorBacklog())
        #expect(try #require(snapshot.bytesAcknowledged) <= snapshot.bytesSent)
    }

    @Test func aSecondPublisherOfTheSameNameIsToldWhy() throws {
        let fixture = try FLVFixture.shared.get()
        let nginx = try NginxRTMP()
        let url = "rtmp://127.0.0.1:\(nginx.port)/live"
        let first = try DestinationRun(settings(url), log: FLVFixture.log(), format: fixture.format)
        try first.wait(for: .publishing)
        let second = try DestinationRun(settings(url), log: FLVFixture.log(), format: fixture.format)
        let error = try second.failure()
        #expect(error.cause == .nameInUse)
        #expect(error.description == """
            "main" (\(url)): another publisher holds the stream's name \
            (NetStream.Publish.BadName: Already publishing); nothing more is published there
            """)
        #expect(second.destination.snapshot.lastError == error)
    }

    @Test func anUnknownApplicationIsTheLikelyReason() throws {
        let nginx = try NginxRTMP()
        let run = try DestinationRun(
            settings("rtmp://127.0.0.1:\(nginx.port)/nope"), log: FLVFixture.log(),
            format: FLVFixture.shared.get().format)
        let error = try run.failure()
        #expect(error.cause == .closedByServer)
        #expect(error.detail.contains("it may not know the application"), "\(error)")
    }

    /// nginx sends "publish start" before it denies the publisher, so an accepted stream is not healthy yet.
    @Test func aDeniedPublisherFails() throws {
        let nginx = try NginxRTMP()
        let log = FLVFixture.log()
        try FLVFixture.shared.get().write(0..<50, to: log)
        let run = try DestinationRun(
            settings("rtmp://127.0.0.1:\(nginx.port)/closed"), log: log, format: FLVFixture.shared.get().format)
        let error = try run.failure()
        #expect([.closedByServer, .connectionLost, .rejected].contains(error.cause), "\(error)")
    }

    @Test func aServerThatDiesMidStreamIsNoticed() throws {
        let fixture = try FLVFixture.shared.get()
        let nginx = try NginxRTMP()
        let log = FLVFixture.log()
        let run = try DestinationRun(settings("rtmp://127.0.0.1:\(nginx.port)/live"), log: log, format: fixture.format)
        fixture.write(0..<50, to: log)
        try run.wait(until: "packets were sent") { $0.video.packets > 0 }
        try nginx.kill()
        let error = try run.failure()
        #expect([.closedByServer, .connectionLost].contains(error.cause), "\(error)")
    }

    @Test func aServerThatStopsReadingRunsIntoTheSendTimeout() throws {
        let fixture = try FLVFixture.shared.get()
        let nginx = try NginxRTMP()
        let log = PacketLog(limits: PacketLogLimits(maxBytes: 32 << 20, maxDuration: .seconds(600), maxPackets: 4096))
        let run = try DestinationRun(
            settings("rtmp://127.0.0.1:\(nginx.port)/live") { $0.sendTimeout = .milliseconds(300) }, log: log,
            format: fixture.format)
        try run.wait(for: .publishing)
        nginx.freeze()
        defer { nginx.thaw() }
        writeMoreThanBuffersHold(to: log)
        let error = try run.failure()
        #expect(error.cause == .sendTimeout, "\(error)")
    }

    @Test func aStopDoesNotWaitForAServerThatStopsReading() throws {
        let fixture = try FLVFixture.shared.get()
        let nginx = try NginxRTMP()
        let log = PacketLog(limits: PacketLogLimits(maxBytes: 32 << 20, maxDuration: .seconds(600), maxPackets: 4096))
        let run = try DestinationRun(settings("rtmp://127.0.0.1:\(nginx.port)/live"), log: log, format: fixture.format)
        try run.wait(for: .publishing)
        nginx.freeze()
        defer { nginx.thaw() }
        writeMoreThanBuffersHold(to: log)
        log.end()
        run.destination.stop(deadline: MonotonicClock().now() + .milliseconds(300))
        run.destination.join()
        let snapshot = run.destination.snapshot
        #expect(snapshot.state == .stopped && !snapshot.isDrained && snapshot.video.packets < 40)
    }

    /// 20 MB; the kernel's buffers on both sides hold about 7 MB.
    private func writeMoreThanBuffersHold(to log: PacketLog) {
        let frame = [UInt8](repeating: 0, count: 500_000)
        for index in 0..<40 {
            let time = MediaTime.milliseconds(Int64(index) * 33)
            let priority: PacketPriority = index == 0 ? .keyframe : .reference
            log.write(PacketInfo(track: .video, pts: time, dts: time, priority: priority), payload: frame.span.bytes)
        }
    }

    /// ffmpeg as the server: a second implementation that reads metadata and sequence headers.
    @Test func ffmpegAsTheServerUnderstandsIt() throws {
        let fixture = try FLVFixture.shared.get()
        let folder = try TemporaryDirectory("publishing")
        let port = try Loopback.freePort()
        let server = try ChildProcess(
            "/usr/bin/ffmpeg",
            [
                "-v", "error", "-listen", "1", "-i", "rtmp://127.0.0.1:\(port)/live/show", "-c", "copy",
                folder.file("show.flv"),
            ])
        try Loopback.waitForUntriedListener(at: port)
        let run = try DestinationRun(
            settings("rtmp://127.0.0.1:\(port)/live"), log: FLVFixture.log(), format: fixture.format)
        try run.feed(fixture)
        run.stop()
        #expect(run.destination.snapshot.isDrained)
        _ = server.waitForExit(within: 60)
        let recording = try FLVPackets(folder.bytes(of: "show.flv"))
        #expect(recording.decoderConfiguration == fixture.recording.decoderConfiguration)
        #expect(recording.video.count == 120 && recording.audio.count == fixture.recording.audio.count)
        #expect(zip(recording.video, fixture.recording.video).allSatisfy { $0.payload == $1.payload })
        #expect(recording.metadata.last?["width"] == .number(320))
        #expect(try decodingErrors(folder.file("show.flv")) == "")
    }

    @Test func anIPv6Address() throws {
        guard Loopback.hasIPv6 else { return }
        let fixture = try FLVFixture.shared.get()
        let nginx = try NginxRTMP(host: "[::1]")
        let run = try DestinationRun(
            settings("rtmp://[::1]:\(nginx.port)/live"), log: FLVFixture.log(), format: fixture.format)
        try run.feed(fixture)
        run.stop()
        #expect(run.destination.snapshot.isDrained)
        #expect(try nginx.recording(videoPackets: 120).audio.count == fixture.recording.audio.count)
    }

    @Test func cancelAndAStopInThePastEndWhateverGoesOn() throws {
        let fixture = try FLVFixture.shared.get()
        let nginx = try NginxRTMP()
        let run = try DestinationRun(
            settings("rtmp://127.0.0.1:\(nginx.port)/live"), log: FLVFixture.log(), format: fixture.format)
        try run.wait(for: .publishing)
        run.destination.cancel()
        run.destination.join()
        #expect(run.destination.snapshot.state == .stopped && run.destination.snapshot.lastError == nil)

        nginx.freeze()
        defer { nginx.thaw() }
        let stuck = try DestinationRun(
            settings("rtmp://127.0.0.1:\(nginx.port)/live"), log: FLVFixture.log(), format: fixture.format)
        try stuck.wait(for: .connecting)
        stuck.destination.stop(deadline: .zero)
        stuck.destination.join()
        #expect(stuck.destination.snapshot.state == .stopped && !stuck.destination.snapshot.isDrained)
    }
}
