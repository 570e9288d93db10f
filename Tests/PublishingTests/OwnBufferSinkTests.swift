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
        func finish(until deadline: MediaTime, isCut: () -> Bool) throws(PublishError) -> PublishError? {
            link.flow()
            return nil
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
        var facts: SinkFacts { .own }
        func makeFactory(_ context: SinkContext) -> any SinkFactory { Factory(links) }
    }

    @Test func whatWaitsInTheSinksBufferIsTakenBack() throws {
        let kind = Kind()
        let run = try DestinationRun(own: kind)
        run.writeKeyframe(at: 0)
        try waitFor("the first packet to wait", within: 30) { kind.links.withLock { $0.first }?.isWaiting == true }
        let first = try #require(kind.links.withLock { $0.first })
        first.flow()
        run.writeKeyframe(at: 33)
        try waitFor("the second packet to wait", within: 30) { first.isWaiting }

        #expect(run.destination.takeBack(before: 1) == .milliseconds(33))
        first.flow()
        #expect(first.state.withLock { $0.arrived } == [.zero], "nothing of before arrives after the answer")

        try waitFor("another connection", within: 30) { kind.links.withLock { $0.count } == 2 }
        run.writeKeyframe(at: 66, epoch: 1)
        try waitFor("the packet that came after", within: 30) {
            kind.links.withLock { $0 }.last?.state.withLock { $0.waiting } == [.milliseconds(66)]
        }
        run.stop()
        #expect(run.destination.snapshot.isDrained)
        #expect(run.destination.snapshot.failures == [.connectionLost: 1])
        #expect(first.state.withLock { $0.arrived } == [.zero])
        #expect(kind.links.withLock { $0 }.last?.state.withLock { $0.arrived } == [.milliseconds(66)])
    }
}
