import Buffering
import Endpoints
import Glibc
import LinuxSystem
import MediaCore
import TestSupport
import Testing

@testable import Publishing

/// Promise: after a destination has ended, none of its media is sent any more, however it ended. A server that reads
/// again finds the bytes that its own kernel had received by then, and a reset.
@Suite struct UnacknowledgedMediaTests {
    enum Ending: CaseIterable, Sendable {
        case broadcastEnds, isRemoved, serverClosesItsSide, isRedirected
    }

    private enum Phase: Int, Sendable { case publishing, ending, ended }

    private static func wait(for wanted: Phase, _ phase: Monitor<Phase>) {
        let _: Bool? = phase.wait(until: MonotonicClock().now() + .seconds(30)) {
            $0.rawValue >= wanted.rawValue ? true : nil
        }
    }

    private struct Late: Sendable {
        /// Bytes in the server's kernel when the destination had ended.
        var taken: Int
        /// Bytes that were read afterwards.
        var read: Int
        var isReset: Bool
    }

    @Test(arguments: Ending.allCases) func aServerThatReadsAgainGetsNothing(after ending: Ending) throws {
        let fixture = try FLVFixture.shared.get()
        let phase = Monitor(Phase.publishing)
        let hasAsked = Monitor(false)
        let late = Monitor<Late?>(nil)
        let server = try ScriptedServer(receiveBuffer: 4096) { peer in
            peer.acceptPublisher()
            if ending == .isRedirected {
                peer.send(reconnectRequest(to: nil))
                hasAsked.signal { $0 = true }
            }
            Self.wait(for: .ending, phase)
            if ending == .serverClosesItsSide { peer.closeSending() }
            Self.wait(for: .ended, phase)
            let taken = peer.unread
            let (read, isReset) = peer.receiveToEnd()
            late.signal { $0 = Late(taken: taken, read: read, isReset: isReset) }
        }
        let rtmp = RTMPDestinationSettings(
            endpoint: try RTMPEndpoint("rtmp://127.0.0.1:\(server.port)/live"), key: Secret("show"))
        let log = FLVFixture.log()
        let run = try DestinationRun(
            DestinationSettings(name: "main", kind: .rtmp(rtmp), cursorPolicy: .keepEverything), log: log,
            format: fixture.format)
        try run.wait(for: .publishing)
        fixture.write(0..<1, to: log)
        try run.wait(until: "the keyframe was written") { $0.video.packets == 1 }
        fixture.write(1..<10, to: log)
        try run.wait(until: "everything was written") { $0.video.packets + $0.audio.packets == 10 }
        #expect(!run.destination.hasEnded)
        let soon = MonotonicClock().now() + .milliseconds(500)
        switch ending {
        case .broadcastEnds, .serverClosesItsSide:
            log.end()
            run.destination.stop(deadline: soon)
            try run.wait(for: .stopping)
            phase.signal { $0 = .ending }
            run.destination.join()
        case .isRemoved:
            run.destination.leave(deadline: soon)
            run.destination.join()
        case .isRedirected:
            // The destination continues elsewhere with the first keyframe after it has read the request.
            let isAsked: Bool? = hasAsked.wait(until: MonotonicClock().now() + .seconds(30)) { $0 ? true : nil }
            try #require(isAsked == true)
            try waitFor("the request to be read", within: 30) {
                try TCPSocketEntry.sockets(to: server.port).filter(\.isOpen).map(\.unread) == [0]
            }
            fixture.write(0..<10, to: log, offset: .seconds(1))
            try run.wait(until: "another connection is made") { $0.state == .connecting }
        }
        #expect(!run.destination.snapshot.isDrained)
        if ending == .broadcastEnds || ending == .serverClosesItsSide {
            #expect(run.notices.last?.contains("not taken the end of the stream in time") == true, "\(run.said)")
        }
        phase.signal { $0 = .ended }
        let result: Late? = late.wait(until: MonotonicClock().now() + .seconds(30)) { $0 }
        let found = try #require(result)
        #expect(found.taken < run.destination.snapshot.video.bytes, "all of it fitted in the server's kernel")
        #expect(found.read == found.taken, "bytes that left after the end")
        #expect(found.isReset)
    }

    enum Raise: CaseIterable, Sendable {
        case afterTheLossIsNoticed, beforeTheLossIsNoticed, beforeTheBroadcastEnds, whileTheStreamEnds

        var endsBroadcast: Bool { self == .beforeTheBroadcastEnds || self == .whileTheStreamEnds }
    }

    /// Lost bytes are discarded like unsent ones, because the kernel would send them again. If the kernel has not
    /// noticed the loss yet, the connection is broken before that, as soon as an acknowledgement is overdue.
    @Test(arguments: Raise.allCases) func whatALinkHasLostIsNotSentAgain(raise: Raise) throws {
        let isNoticed = raise == .afterTheLossIsNoticed
        let fixture = try FLVFixture.shared.get()
        let phase = Monitor(Phase.publishing)
        let isLosing = Monitor(false)
        let late = Monitor<Late?>(nil)
        let server = try ScriptedServer { peer in
            peer.acceptPublisher()
            guard (try? peer.loseEverything()) != nil else { return }
            isLosing.signal { $0 = true }
            Self.wait(for: .ended, phase)
            let taken = peer.unread
            peer.loseNothing()
            // A host without this connection answers with a reset.
            peer.send([0])
            let (read, isReset) = peer.receiveToEnd()
            late.signal { $0 = Late(taken: taken, read: read, isReset: isReset) }
        }
        let rtmp = RTMPDestinationSettings(
            endpoint: try RTMPEndpoint("rtmp://127.0.0.1:\(server.port)/live"), key: Secret("show"))
        let log = FLVFixture.log()
        let run = try DestinationRun(
            DestinationSettings(name: "main", kind: .rtmp(rtmp), cursorPolicy: .keepEverything), log: log,
            format: fixture.format)
        try run.wait(for: .publishing)
        let hasFilter: Bool? = isLosing.wait(until: MonotonicClock().now() + .seconds(20)) { $0 ? true : nil }
        try #require(hasFilter == true)
        fixture.write(0..<1, to: log)
        try run.wait(until: "the keyframe was written") { $0.video.packets == 1 }
        if isNoticed {
            try waitFor("the kernel to send it again", within: 30) { try Self.retransmissions(to: server.port) > 0 }
        }
        func stop() {
            log.end()
            run.destination.stop(deadline: MonotonicClock().now() + .seconds(8))
        }
        func outstanding() throws -> Int {
            try TCPSocketEntry.sockets(to: server.port).reduce(0) { $0 + $1.unacknowledged }
        }
        if raise == .whileTheStreamEnds {
            let media = try outstanding()
            stop()
            try waitFor("the end of the stream to be on its way") { try outstanding() > media }
        }
        #expect(run.destination.takeBack(before: 1) == .zero)
        if isNoticed { phase.signal { $0 = .ended } }
        if raise == .beforeTheBroadcastEnds { stop() }
        if raise.endsBroadcast {
            // Nothing is left to be sent: there is no further attempt.
            run.destination.join()
            #expect(!run.destination.snapshot.isDrained)
            #expect(run.said.contains { $0.contains("curtain") }, "\(run.said)")
            // On a busy machine, the connection may break before the broadcast ends.
            if raise == .whileTheStreamEnds { #expect(run.destination.snapshot.state == .stopped) }
        } else {
            #expect(try run.failure().detail.contains("curtain"))
        }
        phase.signal { $0 = .ended }
        let result: Late? = late.wait(until: MonotonicClock().now() + .seconds(30)) { $0 }
        let found = try #require(result)
        #expect(found.read == found.taken, "bytes that left after the answer")
        #expect(found.isReset)
    }

    /// The retransmissions of the only connection to a port of 127.0.0.1 since its last acknowledgement, from
    /// /proc/net/tcp.
    private static func retransmissions(to port: UInt16) throws -> Int {
        let file = try OwnedDescriptor(checking: open("/proc/net/tcp", O_RDONLY | O_CLOEXEC))
        var (bytes, page) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while true {
            let count = read(file.raw, &page, page.count)
            guard count > 0 else { break }
            bytes += page[..<count]
        }
        let hex = String(port, radix: 16, uppercase: true)
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
        let remote = ":" + String(repeating: "0", count: 4 - hex.count) + hex
        return lines.filter { $0.count > 6 && $0[2].hasSuffix(remote) }
            .compactMap { Int($0[6], radix: 16) }.max() ?? 0
    }

    /// The counterpart: if the server has received everything, no curtain breaks the connection, and it ends in order.
    @Test(arguments: [false, true]) func whatWasAcknowledgedEndsInOrder(behindCurtain: Bool) throws {
        let fixture = try FLVFixture.shared.get()
        let late = Monitor<(bytes: Int, isReset: Bool)?>(nil)
        let server = try ScriptedServer { peer in
            peer.acceptPublisher()
            let end = peer.receiveToEnd()
            late.signal { $0 = end }
        }
        let rtmp = RTMPDestinationSettings(
            endpoint: try RTMPEndpoint("rtmp://127.0.0.1:\(server.port)/live"), key: Secret("show"))
        let log = FLVFixture.log()
        let run = try DestinationRun(
            DestinationSettings(name: "main", kind: .rtmp(rtmp), cursorPolicy: .keepEverything), log: log,
            format: fixture.format)
        try run.feed(fixture)
        if behindCurtain {
            try run.wait(until: "everything was written") {
                $0.video.packets + $0.audio.packets == fixture.recording.packets.count
            }
            try waitFor("everything to be acknowledged") {
                try TCPSocketEntry.sockets(to: server.port).filter(\.isOpen).map(\.unacknowledged) == [0]
            }
            #expect(run.destination.takeBack(before: 1) != nil)
        }
        run.stop()
        #expect(run.destination.snapshot.isDrained, "\(run.said)")
        let result: (bytes: Int, isReset: Bool)? = late.wait(until: MonotonicClock().now() + .seconds(30)) { $0 }
        let found = try #require(result)
        #expect(found.bytes > fixture.recording.video.reduce(0) { $0 + $1.payload.count })
        #expect(!found.isReset)
    }
}
