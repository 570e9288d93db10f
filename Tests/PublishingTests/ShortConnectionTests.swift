import Buffering
import Endpoints
import FLV
import LinuxSystem
import MediaCore
@testable import Publishing
import Testing

/// A server that gives no reason: the likely causes, and the report when that repeats.
@Suite struct ShortConnectionTests {
    private static let causes = ["name may be taken", "publisher denied", "key wrong"]

    /// Bug: only the key was named as a cause.
    @Test func aServerThatClosesWithoutAWordHasThreeReasons() throws {
        let server = try ScriptedServer { peer in
            peer.handshake()
            peer.receive(until: "connect")
            peer.send(connectResult)
            peer.receive(until: "createStream")
            peer.send(createStreamResult)
            peer.receive(until: "publish\u{0}\u{40}")
        }
        let error = try HostileServerTests.run(port: server.port).failure()
        #expect(error.cause == .closedByServer)
        for cause in Self.causes { #expect(error.detail.contains(cause), "\(error)") }
    }

    /// Bug: if the close was read together with the server's consent, only the close was named, and the connection did
    /// not count.
    @Test(arguments: [true, false]) func consentAndEndInOneBreath(hasWords: Bool) throws {
        let server = try ScriptedServer(clients: 60) { peer in
            peer.handshake()
            peer.receive(until: "connect")
            peer.send(connectResult)
            peer.receive(until: "createStream")
            peer.send(createStreamResult)
            peer.receive(until: "publish\u{0}\u{40}")
            if hasWords {
                peer.send(publishStart, status("NetStream.Unpublish.Success", text: "no"))
            } else {
                peer.send(publishStart)
            }
            peer.closeSending()
            peer.receiveAll()
        }
        let run = try run(server.port)
        try run.wait(until: "three short connections") { $0.shortConnections >= 3 }
        let closings = run.said.filter { $0.contains("trying again in") && !$0.hasPrefix("flapping") }
        for closing in closings {
            #expect(closing.contains(hasWords ? "NetStream.Unpublish.Success" : "name may be taken"), "\(closing)")
        }
        #expect(run.destination.snapshot.connects >= closings.count, "\(run.said)")
    }

    /// Bug: an attempt that failed in another way repeated the news.
    @Test func flappingIsNotSaidAgainWithoutAnotherShortConnection() throws {
        let server = try ScriptedServer(clients: 60) { peer in
            guard peer.number >= 3 else { return peer.acceptPublisher() }
            peer.handshake()
            peer.receive(until: "connect")
            peer.send(connectResult)
            peer.receive(until: "createStream")
            peer.send(createStreamResult)
            peer.receive(until: "publish\u{0}\u{40}")
            peer.send(status("NetStream.Publish.BadName", level: "error", text: "Already publishing"))
            peer.receiveAll()
        }
        let run = try run(server.port)
        try run.wait(until: "another failure") { $0.failures[.nameInUse, default: 0] >= 3 }
        // On a busy machine one connection may have lasted.
        #expect(run.said.count { $0.hasPrefix("flapping") } <= 1, "\(run.said)")
    }

    private func run(_ port: UInt16, _ change: (inout ReconnectPolicy) -> Void = { _ in }) throws -> DestinationRun {
        var policy = ReconnectPolicy()
        (policy.firstDelay, policy.longestDelay) = (.milliseconds(20), .milliseconds(40))
        change(&policy)
        return try DestinationRun(
            DestinationSettings(
                name: "main",
                kind: .rtmp(
                    RTMPDestinationSettings(
                        endpoint: try RTMPEndpoint("rtmp://127.0.0.1:\(port)/live"), key: Secret("k3y"))),
                cursorPolicy: .keepEverything),
            reconnect: policy)
    }

    /// Bug: a destination alternated between live and closed for hours, each time reported as if it were the first.
    @Test func liveAndClosedAgainAndAgainIsSaid() throws {
        let stays = Monitor(false)
        let server = try ScriptedServer(clients: 60) { peer in
            peer.acceptPublisher()
            if stays.withLock({ $0 }) { peer.receiveAll() }
        }
        let run = try run(server.port)
        try run.wait(until: "six short connections") { $0.shortConnections >= 6 }
        stays.withLock { $0 = true }
        try run.wait(until: "the second word") { _ in run.said.count { $0.hasPrefix("flapping") } >= 2 }
        let flapping = run.said.filter { $0.hasPrefix("flapping") }
        // On a busy machine one connection may have lasted, so that the count restarted.
        #expect(flapping.first?.hasPrefix("flapping 3:") == true, "\(run.said)")
        for cause in Self.causes { #expect(flapping.first?.contains(cause) == true, "\(flapping)") }
        // The cause precedes the consequence.
        let first = try #require(run.said.firstIndex { $0.hasPrefix("flapping") })
        #expect(run.said[first - 1] == run.said[first].dropFirst("flapping 3: ".count), "\(run.said)")
        // The pauses continue to grow, because a connection that was live for a moment is a failure like others.
        let snapshot = run.destination.snapshot
        #expect(snapshot.isFlapping && snapshot.attempt >= snapshot.connects, "\(snapshot)")
        #expect(try #require(snapshot.lastErrorAt) <= MonotonicClock().now())
        try run.wait(until: "it lasts") { $0.shortConnections == 0 }
        try run.wait(until: "it is said") { _ in run.notices.contains { $0.contains("stays connected again") } }
    }

    /// Reported at the third one, and at each doubling of the count.
    @Test func itIsSaidMoreAndMoreRarely() {
        var connections = ShortConnections()
        var news: [Int] = []
        for _ in 0..<100 {
            connections.noteShort()
            if connections.isNews { news.append(connections.count) }
        }
        #expect(news == [3, 6, 12, 24, 48, 96] && connections.isFlapping)
        connections.reset()
        #expect(!connections.isNews && !connections.isFlapping)
    }

    /// In the log, the cause precedes the consequence of the state.
    @Test func aFailureIsToldBeforeItsState() throws {
        let server = try ScriptedServer { peer in
            peer.handshake()
            peer.send(command(.string("_error"), .number(1), .null, .null))
            peer.receiveAll()
        }
        let run = try HostileServerTests.run(port: server.port)
        _ = try run.failure()
        #expect(run.said.last == "failed", "\(run.said)")
        #expect(run.said.dropLast().last?.contains("rejected the application") == true, "\(run.said)")
    }
}
