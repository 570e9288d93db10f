import Buffering
import Configuration
import ControlProtocol
import Ingest
import IngestProtocol
import MediaCore
import TestLimits
import TestSupport
import Testing

@testable import Pipeline

@Suite(.endsWithin(120)) struct BroadcastHostTests {
    // MARK: Annotations

    /// A client can send thousands per second. The log takes ten, and says once that there were more.
    @Test func annotationsInTheLogAreLimited() throws {
        let rig = try HostRig()
        func annotate(_ numbers: Range<Int>) {
            for number in numbers { rig.host.annotated(AnnotatedMessage(key: "n", value: "\(number)")) }
        }
        func logged() -> [String] {
            rig.log.lines.map { $0.message == "annotated" ? $0.metadata["value"] ?? "" : "\($0.level): \($0.message)" }
        }
        let ten = (0..<10).map(String.init)
        annotate(0..<10)
        #expect(logged() == ten)
        annotate(10..<1000)
        #expect(logged() == ten + ["warning: more annotations than are logged"])
        #expect(rig.log.lines.last?.metadata["logged_per_second"] == "10")
        // The second has not passed.
        rig.clock.advance(by: .milliseconds(999))
        annotate(1000..<1010)
        #expect(logged().count == 11)
        // The second has passed.
        rig.clock.advance(by: .milliseconds(1))
        annotate(1010..<1030)
        let next = (1010..<1020).map(String.init)
        #expect(
            logged() == ten + ["warning: more annotations than are logged"] + next
                + ["warning: more annotations than are logged"])
    }

    // MARK: The air state

    /// Each change is told once and in order, and who is told may ask for the state.
    @Test func changesOfTheAirStateAreTold() throws {
        let rig = try HostRig()
        let host = rig.host
        rig.log.onLine = { [weak host] in if $0.message == "air state changed" { _ = host?.status.report } }
        host.tick()
        try rig.start()
        host.tick()
        host.tick()
        host.ended(.finished(FinishedMessage(reason: .sourceEnded)))
        host.tick()
        // The closing thread may be the one that tells.
        _ = host.shutDown()
        let told = rig.log.lines.filter { $0.message == "air state changed" }.map(\.metadata)
        #expect(
            told == [
                ["event": "air_state_changed", "state": "off_air", "previous": "idle", "recording": "false"],
                ["event": "air_state_changed", "state": "idle", "previous": "off_air", "recording": "false"],
            ])
    }

    // MARK: What a stop comes to

    /// The daemon's exit status depends on this: 0 if true, 3 if false.
    @Test func aStopThatCutsABroadcastShort() throws {
        let rig = try HostRig()
        try rig.start()
        rig.host.noteStopping()
        rig.host.ended(.daemonStopping)
        #expect(!rig.host.shutDown())
    }

    /// The client has finished, and its broadcast is being drained when the stop comes. The stop causes the loss.
    @Test func aStopDuringADrain() throws {
        let rig = try HostRig()
        try rig.start()
        let host = rig.host
        rig.log.onLine = { [weak host] in if $0.message == "broadcast ending" { host?.noteStopping() } }
        host.ended(.finished(FinishedMessage(reason: .sourceEnded)))
        #expect(!host.shutDown())
        #expect(rig.log.lines.last { $0.message == "broadcast ended" }?.metadata["sent_all"] == "false")
    }

    @Test func aStopAfterABroadcastThatDidNotDrain() throws {
        let rig = try HostRig()
        try rig.start()
        let host = rig.host
        host.ended(.finished(FinishedMessage(reason: .sourceEnded)))
        #expect(host.shutDown())
        host.noteStopping()
        #expect(host.shutDown())
    }

    /// The broadcast failed before the stop, so the rest could not have been sent anyway.
    @Test func aStopWhileAFailedBroadcastIsClosed() throws {
        let rig = try HostRig()
        try rig.start()
        let host = rig.host
        rig.log.onLine = { [weak host] in if $0.message == "broadcast ending" { host?.noteStopping() } }
        host.ended(.failed("no destination is left"))
        #expect(host.shutDown())
        #expect(rig.log.lines.last { $0.message == "broadcast ended" }?.metadata["sent_all"] == "false")
    }

    /// A file takes all packets, even during a stop, so everything is sent.
    @Test func aStopOfABroadcastThatDrains() throws {
        let folder = try TemporaryDirectory("flv")
        let file = try DestinationURL("file:\(folder.file("a.flv"))")
        let rig = try HostRig {
            $0.destinations[0].url = file
            $0.destinations[0].keyEnvironment = nil
            $0.stop.drain = .seconds(60)
        }
        try rig.start()
        rig.host.noteStopping()
        rig.host.ended(.daemonStopping)
        #expect(rig.host.shutDown())
    }

    /// Bug: exit status 0, and "dropped=0", after broadcasts that had published nothing.
    @Test func aBroadcastOfWhichNothingWasPublished() throws {
        let rig = try HostRig()
        try rig.start()
        for ms in Int64(0)..<5 {
            let time = MediaTime.milliseconds(ms)
            try rig.broadcast.log.write(
                PacketInfo(track: .video, pts: time, dts: time, priority: .keyframe), payload: [1].span.bytes)
        }
        rig.host.ended(.finished(FinishedMessage(reason: .sourceEnded)))
        #expect(!rig.host.shutDown(), "nothing was ever published")
        let ended = try #require(rig.log.lines.first { $0.message == "broadcast ended" })
        #expect(ended.metadata["sent_all"] == "false")
        #expect(Int(ended.metadata["dropped"] ?? "").map { $0 >= 5 } == true, "\(ended)")
        #expect(ended.metadata["frames_dropped"] == "0")
        #expect(rig.log.lines.last?.message == "nothing was published")
    }

    // MARK: Failures as sentences

    @Test func aFailureIsASentence() {
        let failure: any Error = WorkerFailure(sentence: "encoding failed: the encoder caught fire")
        #expect("\(failure)" == "encoding failed: the encoder caught fire")
        #expect(String(describing: failure) == "encoding failed: the encoder caught fire")
    }

    /// The client and the log get the same sentence about a broadcast that cannot start, without the name of a type.
    @Test func aBroadcastThatCannotStartSaysWhy() throws {
        let rig = try HostRig { $0.video.encoder = "libnothing" }
        let error = #expect(throws: ProtocolError.self) { try rig.start() }
        #expect(error?.code == .broadcastFailed)
        #expect(rig.log.lines.map(\.message) == ["curtain raised", "broadcast not started", "curtain lowered"])
        let sentence = rig.log.lines.first { $0.message == "broadcast not started" }?.metadata["why"] ?? ""
        #expect(sentence.hasPrefix("encoder libnothing is not in this libavcodec; it has "), "\(sentence)")
        #expect(error?.message == "the broadcast cannot start: " + sentence)
    }

    // MARK: Figures

    @Test func timesInTheStatusAreTheClocks() throws {
        let rig = try HostRig()
        func times() -> [String] {
            let status = rig.host.status.report
            return ["\(status.state)", "\(status.stateMilliseconds)", "\(status.uptimeMilliseconds)"]
        }
        #expect(times() == ["idle", "0", "0"])
        rig.clock.advance(by: .milliseconds(1500))
        #expect(times() == ["idle", "1500", "1500"])
        try rig.start()
        #expect(times() == ["starting", "0", "1500"])
        rig.clock.advance(by: .milliseconds(20))
        #expect(times() == ["starting", "20", "1520"])
        #expect(rig.host.status.report.client?.connectedMilliseconds == 20)
        rig.host.paused()
        rig.clock.advance(by: .milliseconds(7))
        #expect(times() == ["paused", "7", "1527"])
        rig.host.resumed()
        rig.clock.advance(by: .milliseconds(3))
        #expect(times() == ["starting", "3", "1530"])
        #expect(rig.host.status.report.client?.connectedMilliseconds == 30)
        rig.host.ended(.clientVanished)
        _ = rig.host.shutDown()
        rig.clock.advance(by: .milliseconds(11))
        #expect(times() == ["idle", "11", "1541"])
        #expect(rig.host.status.report.client == nil && rig.host.status.report.broadcasts == 1)
        rig.host.noteStopping()
        #expect(times()[0] == "stopping")
    }

    /// No packet has been sent, so the whole log is the destination's backlog.
    @Test func theQueueInTheStatusIsWhatHasNotBeenSent() throws {
        let rig = try HostRig {
            $0.buffer.maxBytes = 100_000
            $0.buffer.duration = .seconds(4)
        }
        try rig.start()
        #expect(rig.host.status.report.queue.bytes == 0 && rig.host.status.report.queue.milliseconds == 0)
        try writeFrames(to: rig.broadcast.log)
        let queue = rig.host.status.report.queue
        #expect(queue.capacityBytes == 100_000 && queue.capacityMilliseconds == 4000)
        #expect((queue.packets, queue.bytes, queue.milliseconds) == (30, 30_000, 29 * 40))
        let destination = try #require(rig.host.status.report.destinations.first)
        #expect((destination.backlogBytes, destination.backlogMilliseconds) == (30_000, 29 * 40))
        rig.host.ended(.clientVanished)
        _ = rig.host.shutDown()
        #expect(rig.host.status.report.queue.bytes == 0 && rig.host.status.report.queue.capacityBytes == 100_000)
    }

    /// The log still holds sent packets, for a destination that may be added. They are not part of the queue.
    @Test func whatHasBeenSentIsNoQueue() throws {
        let folder = try TemporaryDirectory("flv")
        let file = try DestinationURL("file:\(folder.file("a.flv"))")
        let rig = try HostRig {
            $0.destinations[0].url = file
            $0.destinations[0].keyEnvironment = nil
            $0.stop.drain = .seconds(60)
        }
        try rig.start()
        let log = try rig.broadcast.log
        writeFrames(to: log)
        try waitFor("everything to be written") { rig.host.status.report.destinations.first?.packetsSent == 30 }
        let queue = rig.host.status.report.queue
        #expect((queue.packets, queue.bytes, queue.milliseconds) == (0, 0, 0))
        #expect(log.statistics.packets == 30)
        rig.host.ended(.clientVanished)
        #expect(rig.host.shutDown())
    }

    /// 30 frames of 1000 bytes, 40 ms apart.
    private func writeFrames(to log: PacketLog) {
        let payload = [UInt8](repeating: 1, count: 1000)
        for frame in 0..<30 {
            let time = MediaTime.milliseconds(Int64(frame) * 40)
            let priority: PacketPriority = frame == 0 ? .keyframe : .reference
            log.write(PacketInfo(track: .video, pts: time, dts: time, priority: priority), payload: payload.span.bytes)
        }
    }
}
