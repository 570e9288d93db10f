import Buffering
import Endpoints
import FLV
import LinuxSystem
import MediaCore
@testable import Publishing
import TestSupport
import Testing

/// A server that may not have read the end of the stream. The broadcast has ended, and the reason is reported.
@Suite struct UnconfirmedEndTests {
    enum Ending: CaseIterable, Sendable {
        case resets, staysConnected

        var cause: FailureCause {
            switch self {
            case .resets: .connectionLost
            case .staysConnected: .sendTimeout
            }
        }
    }

    @Test(arguments: Ending.allCases) func whyItIsNotConfirmed(_ ending: Ending) throws {
        let isOver = Monitor(false)
        let server = try ScriptedServer { peer in
            peer.acceptPublisher()
            var writer = ChunkWriter()
            writer.message(3, [0, 0, 0, 1], stream: 2)
            peer.send(writer.bytes)
            peer.receive(until: "deleteStream")
            if ending == .resets { return peer.resetWhenClosed() }
            let _: Bool? = isOver.wait(until: MonotonicClock().now() + .seconds(30)) { $0 ? true : nil }
        }
        defer { isOver.signal { $0 = true } }
        let rtmp = RTMPDestinationSettings(
            endpoint: try RTMPEndpoint("rtmp://127.0.0.1:\(server.port)/live"), key: Secret("k3y"))
        let run = try DestinationRun(
            DestinationSettings(name: "main", kind: .rtmp(rtmp), cursorPolicy: .keepEverything))
        try run.wait(for: .publishing)
        run.writeKeyframe(at: 0)
        try run.wait(until: "the server's acknowledgement is read") { $0.bytesAcknowledged == 1 }
        run.stop()
        let snapshot = run.destination.snapshot
        #expect(snapshot.state == .stopped && !snapshot.isDrained)
        let error = try #require(snapshot.lastError, "\(run.said)")
        #expect(error.cause == ending.cause && snapshot.failures == [ending.cause: 1], "\(error)")
        #expect(run.notices == [error.description])
        #expect(error.description.hasSuffix("; the end may be missing there"))
    }
}
