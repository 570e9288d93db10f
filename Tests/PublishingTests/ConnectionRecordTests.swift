import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import Publishing

/// Promise: connections that a server accepts and closes at once are counted and told, until one lasts.
@Suite struct ConnectionRecordTests {
    private final class Rig {
        let clock = ManualClock(.seconds(50))
        let destination: Destination
        let record: ConnectionRecord
        private let notices: Monitor<[String]>

        init() throws {
            let notices = Monitor<[String]>([])
            self.notices = notices
            destination = try Destination.unstarted(clock: clock) { event in
                if case .notice(let text) = event { notices.withLock { $0.append(text) } }
            }
            record = ConnectionRecord(destination)
        }

        /// A connection that ends after `milliseconds`.
        func connect(for milliseconds: Int64, _ cause: FailureCause = .connectionLost) -> PublishError {
            record.begin()
            record.noteReady()
            clock.advance(by: .milliseconds(milliseconds))
            var error = PublishError(cause, "the server closed the connection")
            record.noteEnd(&error)
            return error
        }

        var said: [String] { notices.withLock { $0 } }
        var count: Int { destination.snapshot.shortConnections }
    }

    @Test func shortOnesAreCountedAndTold() throws {
        let rig = try Rig()
        for count in 1...6 {
            let error = rig.connect(for: 999)
            #expect(error.detail.contains("999 ms after the stream was accepted: the name may be taken"))
            #expect(rig.count == count)
            #expect(rig.record.shortConnectionsToTell == ([3, 6].contains(count) ? count : nil))
        }
        #expect(rig.destination.snapshot.connects == 6 && rig.said.isEmpty)
    }

    @Test func oneThatLastsEndsTheSeries() throws {
        let rig = try Rig()
        for _ in 1...3 { _ = rig.connect(for: 10) }
        #expect(rig.connect(for: 1_000).detail == "the server closed the connection")
        #expect(rig.count == 0 && rig.record.shortConnectionsToTell == nil)
        #expect(rig.said.count == 1 && rig.said[0].hasSuffix("stays connected again"))
    }

    /// An error that the server has nothing to do with neither counts nor ends the series.
    @Test func onlyWhatAServerEndsCounts() throws {
        let rig = try Rig()
        _ = rig.connect(for: 10)
        #expect(rig.connect(for: 10, .protocolViolation).detail == "the server closed the connection")
        #expect(rig.count == 1)
    }

    /// Bug: an attempt that failed before it had a sink, as for an unreadable key, told the same number again.
    @Test func anAttemptWithoutAConnectionTellsNothing() throws {
        let rig = try Rig()
        for _ in 1...3 { _ = rig.connect(for: 10) }
        #expect(rig.record.shortConnectionsToTell == 3)
        rig.record.begin()
        #expect(rig.record.shortConnectionsToTell == nil && rig.record.age == nil && rig.count == 3)
    }

    @Test func bytesOfAllConnectionsAreAdded() throws {
        let rig = try Rig()
        for sent: UInt64 in [1_000, 500] {
            rig.record.begin()
            rig.record.noteReady()
            rig.record.note(SinkProgress(location: "rtmp://server", bytesSent: sent, bytesAcknowledged: sent / 2))
        }
        #expect(rig.destination.snapshot.bytesSent == 1_500)
        #expect(rig.destination.snapshot.bytesAcknowledged == 750)
    }
}
