import Glibc
import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: the daemon's exit status says whether a stop cost anything.
@Suite struct ExitStatusTests {
    /// A daemon whose server takes the connection and never answers, so that nothing can be sent.
    private func daemon(drainMilliseconds: Int) throws -> (daemon: Daemon, server: SilentServer) {
        let server = try SilentServer()
        var settings = DaemonSettings()
        settings.publish(to: "rtmp://127.0.0.1:\(server.port)/live")
        settings.destinations[0].fields["handshake_timeout_ms"] = "60000"
        settings.stop["drain_ms"] = "\(drainMilliseconds)"
        return (try Daemon(settings), server)
    }

    @Test(.inItsTurn) func aStopThatCutsABroadcastShort() async throws {
        try await blocking {
            let (daemon, server) = try daemon(drainMilliseconds: 200)
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            try client.send(NumberedPictures.landscape(1), pts: .seconds(1))
            #expect(try daemon.terminate() == .code(3), "\(daemon.process.errorTail)")
            try client.waitForEnd()
            try daemon.waitForLog("sent_all=false")
            withExtendedLifetime(server) {}
        }
    }

    /// The client has finished, the rest of its broadcast is on its way, and then comes the stop.
    @Test(.inItsTurn) func aStopDuringADrain() async throws {
        try await blocking {
            let (daemon, server) = try daemon(drainMilliseconds: 3000)
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            try client.send(NumberedPictures.landscape(1), pts: .seconds(1))
            try client.send { FinishedMessage(reason: .sourceEnded).encode(sequence: $0, into: &$1) }
            _ = try client.waitForReply("draining") { reply -> Bool? in
                if case .state(let state) = reply, state.state == .draining { true } else { nil }
            }
            #expect(try daemon.terminate() == .code(3), "\(daemon.process.errorTail)")
            try client.waitForEnd()
            withExtendedLifetime(server) {}
        }
    }

    /// The stop that comes later cost nothing, but nothing was ever published.
    @Test(.inItsTurn) func aStopAfterADrainInVain() async throws {
        try await blocking {
            let (daemon, server) = try daemon(drainMilliseconds: 200)
            let client = try CaptureClient(socket: daemon.ingestSocket)
            try client.start()
            try client.send(NumberedPictures.landscape(1), pts: .seconds(1))
            #expect(try client.finish().reason == .failed)
            #expect(try daemon.terminate() == .code(3), "\(daemon.process.errorTail)")
            try daemon.waitForLog("nothing was published")
            withExtendedLifetime(server) {}
        }
    }
}
