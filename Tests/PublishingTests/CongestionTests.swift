import Buffering
import Endpoints
import LinuxSystem
import MediaCore
import Testing

@testable import Publishing

/// Promise: the status and the log show a server that stops reading, as long as it does.
@Suite struct CongestionTests {
    /// Bug: the log did not show it, and the status showed up to twice the time.
    @Test func aServerThatStopsReading() throws {
        let fixture = try FLVFixture.shared.get()
        let mayRead = Monitor(false)
        let server = try ScriptedServer(receiveBuffer: 4096) { peer in
            peer.acceptPublisher()
            let _: Bool? = mayRead.wait(until: MonotonicClock().now() + .seconds(60)) { $0 ? true : nil }
            peer.receiveAll()
        }
        var rtmp = RTMPDestinationSettings(
            endpoint: try RTMPEndpoint("rtmp://127.0.0.1:\(server.port)/live"), key: Secret("show"))
        rtmp.sendTimeout = .seconds(60)
        let log = FLVFixture.log()
        let run = try DestinationRun(
            DestinationSettings(name: "main", kind: .rtmp(rtmp), cursorPolicy: .keepEverything), log: log,
            format: fixture.format)
        defer { mayRead.signal { $0 = true } }
        try run.wait(for: .publishing)
        let begin = MonotonicClock().now()
        fixture.write(0..<1, to: log)
        try run.wait(until: "the keyframe was written") { $0.video.packets == 1 }
        fixture.write(1..<10, to: log)
        try run.wait(until: "it is said") { _ in run.notices.contains { $0.hasSuffix(" s late") } }
        let link = run.destination.link
        #expect(link.lateness <= MonotonicClock().now() - begin + .milliseconds(500), "\(link)")
        #expect(try #require(link.congestedSince) > begin, "\(link)")
        #expect(run.notices.count == 1, "\(run.notices)")
        mayRead.signal { $0 = true }
        try run.wait(until: "it is over") { _ in run.notices.contains { $0.hasSuffix("packets are on time again") } }
        #expect(run.destination.link.congestedSince == nil)
    }
}
