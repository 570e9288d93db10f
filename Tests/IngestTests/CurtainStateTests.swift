import Ingest
import IngestProtocol
import LinuxSystem
import MediaCore
import TestLimits
import Testing

/// The client is told when viewers see a curtain, and when they no longer do: as it is, and once.
@Suite(.endsWithin(60)) struct CurtainStateTests {
    @Test func whatIsNewsIsToldOnce() throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let server = try #require(consumer.server)
            func say(_ state: BroadcastState, _ value: UInt32 = 0) {
                consumer.curtain.withLock { $0 = StateMessage(state, value: value, text: "now") }
                server.curtainChanged()
            }
            let client = try connect()
            // Before a broadcast has begun there is nothing to tell.
            say(.curtainUp, 4)
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            say(.curtainUp, 16)
            #expect(try client.receiveState() == StateMessage(.curtainUp, value: 16, text: "now"))
            say(.curtainUp, 16)
            say(.curtainUp, 18)
            #expect(try client.receiveState() == StateMessage(.curtainUp, value: 18, text: "now"))
            say(.curtainDown)
            #expect(try client.receiveState() == StateMessage(.curtainDown, text: "now"))
            say(.curtainDown)
            server.notify(StateMessage(.live, text: "live"))
            #expect(try client.receiveState()?.state == .live)
        }
    }

    /// A curtain that went up and fell before the ingest thread looked has taken pictures: the client, whose screen may
    /// stand still, is told that it is down.
    @Test func aCurtainThatHasFallenAlreadyIsTold() throws {
        try withServer(RecordingConsumer()) { consumer, connect in
            let server = try #require(consumer.server)
            consumer.objections.withLock { $0 = 7 }
            let client = try connect()
            client.send { StartedMessage(clientName: "t", convention: .exif).encode(sequence: $0, into: &$1) }
            #expect(try client.receiveType() == .welcome)
            for round in 1...2 {
                server.curtainChanged()
                server.notify(StateMessage(.live, value: UInt32(round), text: "live"))
                #expect(try client.receiveState()?.state == .live, "nothing has happened since")
                consumer.objections.withLock { $0 += 2 }
                server.curtainChanged()
                // Whatever is told of it comes before the second of these.
                server.notify(StateMessage(.connecting, value: UInt32(round), text: "again"))
                var states = [try client.receiveState()?.state]
                server.notify(StateMessage(.reconnecting, value: UInt32(round), text: "again"))
                while states.last != .reconnecting { states.append(try client.receiveState()?.state) }
                #expect(states.filter { $0 == .curtainDown }.count == 1)
            }
        }
    }
}
