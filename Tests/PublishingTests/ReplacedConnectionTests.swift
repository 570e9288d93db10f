import Buffering
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import Publishing

/// Promise: a server that asks for another connection gets it from the next keyframe on, and no older one later.
@Suite struct ReplacedConnectionTests {
    /// Asks for another connection after its first packet.
    private final class Sink: PublishingSink {
        private let number: Int
        private let kind: Kind

        init(_ number: Int, _ kind: Kind) { (self.number, self.kind) = (number, kind) }

        var progress: SinkProgress { SinkProgress(location: "own://\(number)") }
        var unsent: any UnsentMedia { NothingUnsent() }
        var wantsReplacement: Bool { number == 0 && !written.isEmpty }
        private var written: [MediaTime] { kind.written.withLock { $0[number] ?? [] } }

        func open() throws(PublishError) {
            if number == 1, kind.secondFails { throw PublishError(.connectionLost, "nobody is there") }
        }
        func write(_ info: PacketInfo, _ buffer: inout PacketBuffer) throws(PublishError) {
            kind.written.signal { $0[number, default: []].append(info.pts) }
        }
        func service() throws(PublishError) {}
        func finish(until deadline: MediaTime, isCut: () -> Bool) throws(PublishError) -> PublishError? { nil }
        func close() {}
    }

    private final class Factory: SinkFactory {
        private let kind: Kind
        private var made = 0

        init(_ kind: Kind) { self.kind = kind }

        func makeSink() throws(PublishError) -> any PublishingSink {
            defer { made += 1 }
            return Sink(made, kind)
        }
        func attemptFailed(_ error: PublishError) { kind.failed.signal { $0 += 1 } }
    }

    private struct Kind: SinkSettings {
        /// What each connection has got.
        let written = Monitor<[Int: [MediaTime]]>([:])
        let failed = Monitor(0)
        var secondFails: Bool
        var facts: SinkFacts { .own }
        func makeFactory(_ context: SinkContext) -> any SinkFactory { Factory(self) }

        func wait(for connection: Int) throws -> [MediaTime] {
            let found = written.wait(until: MonotonicClock().now() + .seconds(30)) { $0[connection] }
            return try #require(found, "connection \(connection) got nothing")
        }
    }

    @Test(arguments: [false, true]) func theKeyframeThatWasRead(secondFails: Bool) throws {
        let kind = Kind(secondFails: secondFails)
        let run = try DestinationRun(own: kind)
        defer { run.destination.cancel() }
        run.writeKeyframe(at: 0)
        #expect(try kind.wait(for: 0) == [.zero])
        run.writeKeyframe(at: 33)
        if secondFails {
            #expect(kind.failed.wait(until: MonotonicClock().now() + .seconds(30)) { $0 > 0 ? $0 : nil } == 1)
            run.writeKeyframe(at: 66)
            #expect(try kind.wait(for: 2).first == .milliseconds(66), "and not what the lost connection was to get")
        } else {
            #expect(try kind.wait(for: 1) == [.milliseconds(33)])
        }
    }
}
