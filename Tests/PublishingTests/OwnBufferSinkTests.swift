import Buffering
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import Publishing

/// Promise: the curtain takes back packets in any kind of sink, in the sink's own buffer as well as in the kernel's.
/// The loop does not need to know the kind. The sink here keeps packets like a library such as libsrt.
@Suite struct OwnBufferSinkTests {
    /// The library's buffer, and the network behind it.
    private final class Link: UnsentMedia {
        struct State {
            var waiting: [MediaTime] = []
            var arrived: [MediaTime] = []
            var isBroken = false
        }

        let state = Monitor(State())

        var isWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }
        var isAcknowledged: Bool { !isWaiting }
        var delivery: Delivery? { nil }

        func discard() {
            state.withLock {
                $0.waiting = []
                $0.isBroken = true
            }
        }

        /// Moves waiting packets to the network.
        func flow() {
            state.withLock {
                $0.arrived += $0.waiting
                $0.waiting = []
            }
        }
    }

    private final class Sink: PublishingSink {
        private let link: Link

        init(_ link: Link) { self.link = link }

        var progress: SinkProgress { SinkProgress(location: "own://buffer") }
        var unsent: any UnsentMedia { link }
        func open() throws(PublishError) {}
        func write(_ info: PacketInfo, _ buffer: inout PacketBuffer) throws(PublishError) {
            let isBroken = link.state.withLock {
                if !$0.isBroken { $0.waiting.append(info.pts) }
                return $0.isBroken
            }
            if isBroken { throw Self.broken }
        }
        func service() throws(PublishError) { if link.state.withLock({ $0.isBroken }) { throw Self.broken } }
        private static let broken = PublishError(.connectionLost, "the link is broken")
        func finish(until deadline: MediaTime) throws(PublishError) -> Bool {
            link.flow()
            return true
        }
        func close() {}
    }

    private final class Factory: SinkFactory {
        private let links: Monitor<[Link]>

        init(_ links: Monitor<[Link]>) { self.links = links }

        func makeSink() throws(PublishError) -> any PublishingSink {
            let link = Link()
            links.withLock { $0.append(link) }
            return Sink(link)
        }
        func attemptFailed(_ error: PublishError) {}
    }

    private struct Kind: SinkSettings {
        let links = Monitor<[Link]>([])
        var facts: SinkFacts {
            SinkFacts(
                kind: "own", location: "own://buffer", cursorPolicy: .keepEverything,
                longestWaits: SinkWaits(opening: .seconds(30), turn: .seconds(30)), headroom: 0, tailroom: 0,
                bufferedBytes: 0)
        }
        func makeFactory(_ context: SinkContext) -> any SinkFactory { Factory(links) }
    }

    @Test func whatWaitsInTheSinksBufferIsTakenBack() throws {
        let kind = Kind()
        let log = PacketLog(limits: PacketLogLimits(maxBytes: 1 << 20, maxDuration: .seconds(60), maxPackets: 256))
        var settings = DestinationSettings(name: "own", kind: .flvFile(FLVFileSettings(path: "unused")))
        settings.reconnect.firstDelay = .milliseconds(1)
        let destination = Destination(
            index: 0, settings: settings, sink: kind, log: log, format: HostileServerTests.format,
            clock: MonotonicClock(), onEvent: { _ in })
        try destination.start()
        defer {
            destination.cancel()
            destination.join()
        }
        func write(_ milliseconds: Int64, epoch: CurtainEpoch) {
            let time = MediaTime.milliseconds(milliseconds)
            log.write(
                PacketInfo(track: .video, pts: time, dts: time, priority: .keyframe, epoch: epoch),
                payload: [1].span.bytes)
        }
        write(0, epoch: 0)
        try waitFor("the first packet to wait", within: 30) { kind.links.withLock { $0.first }?.isWaiting == true }
        let first = try #require(kind.links.withLock { $0.first })
        first.flow()
        write(33, epoch: 0)
        try waitFor("the second packet to wait", within: 30) { first.isWaiting }

        #expect(destination.takeBack(before: 1) == .milliseconds(33))
        first.flow()
        #expect(first.state.withLock { $0.arrived } == [.zero], "nothing of before arrives after the answer")

        try waitFor("another connection", within: 30) { kind.links.withLock { $0.count } == 2 }
        write(66, epoch: 1)
        try waitFor("the packet that came after", within: 30) {
            kind.links.withLock { $0 }.last?.state.withLock { $0.waiting } == [.milliseconds(66)]
        }
        log.end()
        destination.stop(deadline: MonotonicClock().now() + .seconds(20))
        destination.join()
        #expect(destination.snapshot.isDrained)
        #expect(destination.snapshot.failures == [.connectionLost: 1])
        #expect(first.state.withLock { $0.arrived } == [.zero])
        #expect(kind.links.withLock { $0 }.last?.state.withLock { $0.arrived } == [.milliseconds(66)])
    }
}
