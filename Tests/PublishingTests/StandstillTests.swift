import Buffering
import ControlProtocol
import Endpoints
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import Publishing

/// Promise: a daemon that stood still does not hold that against its servers.
@Suite struct StandstillTests {
    /// A link over which something was sent before the standstill, and something after it.
    private func watch(
        acknowledged: UInt64?, forgiving lost: MediaTime?
    ) throws(PublishError) -> (before: LinkMeasurement, after: LinkMeasurement) {
        var settings = RTMPDestinationSettings(
            endpoint: try! RTMPEndpoint("rtmp://127.0.0.1/live"), key: Secret("k3y"))
        (settings.sendTimeout, settings.acknowledgementTimeout) = (.seconds(10), .seconds(10))
        var watch = RTMPLinkWatch(settings, AcknowledgementWatch(window: 1000), at: .seconds(100))
        for step in 1...3 as ClosedRange<UInt64> {
            let look = RTMPLinkWatch.Look(
                bytesSent: step * 1000, outstandingBytes: 0, bytesAcknowledged: acknowledged.map { _ in step * 1000 })
            _ = try watch.note(look, backlog: .zero, at: .seconds(Int64(100 + step)))
        }
        let before = try watch.note(
            RTMPLinkWatch.Look(bytesSent: 10_000, outstandingBytes: 500, bytesAcknowledged: acknowledged),
            backlog: .zero, at: .seconds(104))
        if let lost { watch.forgive(lost) }
        // The server has not yet answered what was just sent.
        let after = try watch.note(
            RTMPLinkWatch.Look(bytesSent: 11_000, outstandingBytes: 1500, bytesAcknowledged: acknowledged),
            backlog: .zero, at: .milliseconds(124_100))
        return (before, after)
    }

    @Test func aSend() throws {
        #expect { try watch(acknowledged: nil, forgiving: nil) } throws: {
            ($0 as? PublishError)?.cause == .sendTimeout
        }
        let link = try watch(acknowledged: nil, forgiving: .seconds(20))
        #expect(link.after.lag == .milliseconds(100), "\(link)")
    }

    @Test func anAcknowledgement() throws {
        let link = try watch(acknowledged: 3000, forgiving: .seconds(20))
        #expect(link.before.unacknowledged == .zero && link.after.unacknowledged == .milliseconds(100), "\(link)")
    }

    // MARK: The thread

    /// The thread stands still in one of its waits.
    private final class Sink: PublishingSink {
        private let record: Monitor<[MediaTime]>
        private let clock: ManualClock
        private var waits = 0

        init(_ record: Monitor<[MediaTime]>, _ clock: ManualClock) { (self.record, self.clock) = (record, clock) }

        var progress: SinkProgress { SinkProgress(location: "own://link") }
        var unsent: any UnsentMedia { NothingUnsent() }
        func open() throws(PublishError) {}
        func waitForRoom(until deadline: MediaTime) throws(PublishError) -> Bool {
            waits += 1
            // Late, as threads are on a busy machine, and then very late.
            if waits == 3 { clock.advance(by: .milliseconds(500)) }
            if waits == 5 { clock.advance(by: .seconds(14)) }
            return false
        }
        func write(_ info: PacketInfo, _ buffer: inout PacketBuffer) throws(PublishError) {}
        func service() throws(PublishError) {}
        func forgive(_ lost: MediaTime) { record.signal { $0.append(lost) } }
        func finish(until deadline: MediaTime, isCut: () -> Bool) throws(PublishError) -> PublishError? { nil }
        func close() {}
    }

    private final class Factory: SinkFactory {
        private let kind: Kind

        init(_ kind: Kind) { self.kind = kind }

        func makeSink() throws(PublishError) -> any PublishingSink { Sink(kind.record, kind.clock) }
        func attemptFailed(_ error: PublishError) {}
    }

    private struct Kind: SinkSettings {
        let record = Monitor<[MediaTime]>([])
        let clock = ManualClock(.seconds(1))
        var facts: SinkFacts { .own }
        func makeFactory(_ context: SinkContext) -> any SinkFactory { Factory(self) }
    }

    @Test func theThreadTellsTheSink() throws {
        let kind = Kind()
        let run = try DestinationRun(own: kind, clock: kind.clock)
        try run.wait(until: "the standstill is noticed") { _ in kind.record.withLock { !$0.isEmpty } }
        #expect(kind.record.withLock { $0 } == [.milliseconds(13_900)])
    }
}
