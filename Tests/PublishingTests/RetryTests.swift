import Buffering
import Endpoints
import FLV
import LinuxSystem
import MediaCore
import Publishing
import Testing

/// "Retry now", and state that continues from one connection to the next.
@Suite struct RetryTests {
    private static let asked = "trying again now, as asked"

    /// A server that takes some media from each client and closes on request. The requested numbers of clients add up.
    private final class ClosingServer {
        private let clientsToClose = Monitor(0)
        private var server: ScriptedServer?
        var port: UInt16 { server!.port }

        init(clients: Int) throws {
            let clientsToClose = clientsToClose
            server = try ScriptedServer(clients: clients) { peer in
                peer.acceptPublisher()
                let deadline = MonotonicClock().now() + .seconds(20)
                _ = clientsToClose.wait(until: deadline) { $0 > peer.number ? true : nil }
            }
        }
        deinit { closeNext(1_000) }

        func closeNext(_ count: Int = 1) { clientsToClose.signal { $0 += count } }
    }

    private func run(_ port: UInt16, firstDelay: MediaTime) throws -> DestinationRun {
        let endpoint = try RTMPEndpoint("rtmp://127.0.0.1:\(port)/live")
        var policy = ReconnectPolicy()
        (policy.firstDelay, policy.longestDelay) = (firstDelay, firstDelay)
        return try DestinationRun(
            DestinationSettings(
                name: "main", kind: .rtmp(RTMPDestinationSettings(endpoint: endpoint, key: Secret("k3y"))),
                cursorPolicy: .keepEverything),
            reconnect: policy)
    }

    /// A destination that is connected.
    private func run(_ server: ClosingServer, firstDelay: MediaTime) throws -> DestinationRun {
        let run = try run(server.port, firstDelay: firstDelay)
        try run.wait(until: "the first connection") { $0.connects == 1 && $0.state == .publishing }
        return run
    }

    private func write(_ index: Int, to run: DestinationRun) throws {
        let time = MediaTime.milliseconds(Int64(index) * 10)
        run.log.write(
            PacketInfo(track: .video, pts: time, dts: time, priority: .keyframe), payload: [1, 2, 3].span.bytes)
        try run.wait(until: "packet \(index) is out") { $0.lastPTS == time }
    }

    @Test func cutsAPauseShort() throws {
        let server = try ClosingServer(clients: 2)
        let run = try run(server, firstDelay: .seconds(600))
        server.closeNext()
        try run.wait(until: "a pause") { $0.state == .reconnecting }
        // Requested repeatedly, because a request between the failure and the pause is forgotten.
        try run.wait(until: "the second connection") { snapshot in
            if snapshot.state == .reconnecting { run.destination.retryNow() }
            return snapshot.connects == 2
        }
        #expect(run.notices.contains { $0.contains(Self.asked) })
    }

    /// Bug: a retry requested while packets flowed skipped the pause after the next failure.
    @Test func isForgottenWherePacketsFlow() throws {
        let server = try ClosingServer(clients: 2)
        let run = try run(server, firstDelay: .milliseconds(50))
        run.destination.retryNow()
        try write(0, to: run)
        server.closeNext()
        try run.wait(until: "the second connection") { $0.connects == 2 && $0.state == .publishing }
        #expect(!run.notices.contains { $0.contains(Self.asked) }, "\(run.notices)")
    }

    /// Bug: a server that was restarting refused the first connect, and the broadcast was given up.
    @Test(arguments: ["AppShutdown", "Failed"]) func aServerThatIsRestartedIsTriedAgain(word: String) throws {
        let server = try ScriptedServer(clients: 2) { peer in
            if peer.number == 1 {
                peer.acceptPublisher()
                return peer.receiveAll()
            }
            peer.handshake()
            peer.receive(until: "connect")
            let info = AMF0Value.object([
                AMF0Property("level", .string("error")), AMF0Property("code", .string("NetConnection.Connect.\(word)")),
                AMF0Property("description", .string("restarting")),
            ])
            peer.send(command(.string("_error"), .number(1), .null, info))
            peer.receiveAll()
        }
        let run = try run(server.port, firstDelay: .milliseconds(20))
        try run.wait(for: .publishing)
        #expect(run.said.contains { $0.contains("takes no publisher now") && $0.contains("restarting") }, "\(run.said)")
    }

    /// Bug: the count of sent bytes restarted at zero with each connection.
    @Test func bytesAreCountedOnFromOneConnectionToTheNext() throws {
        let server = try ClosingServer(clients: 2)
        let run = try run(server, firstDelay: .milliseconds(50))
        for index in 0..<20 { try write(index, to: run) }
        try run.wait(until: "bytes are counted") { $0.bytesSent > 3_000 }
        let before = run.destination.snapshot.bytesSent
        server.closeNext()
        try run.wait(until: "the second connection") { snapshot in
            #expect(snapshot.bytesSent >= before)
            return snapshot.connects == 2 && snapshot.state == .publishing
        }
        try write(20, to: run)
        try run.wait(until: "more bytes are counted") { $0.bytesSent > before }
    }
}
