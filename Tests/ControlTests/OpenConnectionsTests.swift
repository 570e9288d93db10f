import NIOCore
import NIOEmbedded
import Testing

@testable import Control

/// Who goes where there is no room for all.
@Suite struct OpenConnectionsTests {
    private func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.connect(to: .init(unixDomainSocketPath: "/x")).wait()
        return channel
    }

    /// One process with many connections takes the room of its own only.
    @Test func aCrowdPushesNobodyElseOut() throws {
        let connections = OpenConnections()
        let single = try channel()
        defer { single.end() }
        #expect(connections.hasRoom(for: single, of: 1, atMost: 4))
        var crowd: [EmbeddedChannel] = []
        defer { for one in crowd { one.end() } }
        for _ in 0..<20 {
            crowd.append(try channel())
            #expect(connections.hasRoom(for: crowd[crowd.count - 1], of: 2, atMost: 4))
            // Closing takes a turn of the loop.
            for one in crowd { one.embeddedEventLoop.run() }
        }
        #expect(single.isActive)
        #expect(crowd.map(\.isActive) == Array(repeating: false, count: 17) + [true, true, true])
    }

    /// Of one process, or where nobody can tell, the one goes that has taken longest.
    @Test func theSlowestGoes() throws {
        let connections = OpenConnections()
        let all = try (0..<6).map { _ in try channel() }
        defer { for one in all { one.end() } }
        for one in all {
            #expect(connections.hasRoom(for: one, of: 0, atMost: 4))
            for other in all { other.embeddedEventLoop.run() }
        }
        #expect(all.map(\.isActive) == [false, false, true, true, true, true])
    }

    /// Bug: clients by TCP that did not read their answers kept everybody off the Unix socket.
    @Test func tcpLeavesPlacesToTheUnixSocket() throws {
        let connections = OpenConnections()
        let remote = try (0..<5).map { _ in try channel() }
        let local = try channel()
        defer { for one in remote + [local] { one.end() } }
        for one in remote[..<3] {
            #expect(connections.hasRoom(for: one, of: 0, isRemote: true, atMost: 4))
            connections.complete(one)
        }
        #expect(!connections.hasRoom(for: remote[3], of: 0, isRemote: true, atMost: 4))
        connections.leaves(remote[3])
        // One of the Unix socket, whose request has not come yet, finds a place, and no newcomer by TCP takes it.
        #expect(connections.hasRoom(for: local, of: 1, atMost: 4))
        #expect(!connections.hasRoom(for: remote[4], of: 0, isRemote: true, atMost: 4))
        connections.leaves(remote[4])
        #expect(local.isActive)
        // A place that becomes free is for the next one, and the one after takes it if that one does not ask.
        connections.leaves(remote[0])
        #expect(connections.hasRoom(for: remote[3], of: 0, isRemote: true, atMost: 4))
        #expect(connections.hasRoom(for: remote[4], of: 0, isRemote: true, atMost: 4))
        remote[3].embeddedEventLoop.run()
        #expect(!remote[3].isActive && remote[4].isActive && local.isActive)
    }

    /// Nobody who is being answered goes.
    @Test func whoIsBeingAnsweredStays() throws {
        let connections = OpenConnections()
        let all = try (0..<3).map { _ in try channel() }
        defer { for one in all { one.end() } }
        for one in all.dropLast() {
            #expect(connections.hasRoom(for: one, of: 7, atMost: 2))
            connections.complete(one)
        }
        #expect(!connections.hasRoom(for: all[2], of: 8, atMost: 2))
        for one in all { #expect(one.isActive) }
    }
}
