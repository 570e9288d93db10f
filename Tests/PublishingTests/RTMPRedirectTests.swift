import Buffering
import Endpoints
import FLV
import LinuxSystem
import MediaCore
@testable import Publishing
import TestSupport
import Testing

@Suite struct RTMPRedirectTests {
    private func redirect(
        _ tcURL: String?, from url: String = "rtmps://a.example:4443/live/sub?token=t", allowsRedirect: Bool = false
    ) throws -> String {
        var settings = RTMPDestinationSettings(endpoint: try RTMPEndpoint(url), key: Secret("k3y"))
        settings.allowsRedirect = allowsRedirect
        do { return try RTMPRedirect(tcURL, from: settings).endpoint.tcURL } catch { return error.why }
    }

    /// RFC 3986, section 5.2.
    @Test(arguments: [
        (nil, "rtmps://a.example:4443/live/sub?token=t"), ("", "rtmps://a.example:4443/live/sub?token=t"),
        ("rtmps://a.example:4443/live", "rtmps://a.example:4443/live"), ("rtmps://A.Example/x", "rtmps://A.Example/x"),
        ("//a.example:99/other", "rtmps://a.example:99/other"), ("/other/app?x", "rtmps://a.example:4443/other/app?x"),
        ("other", "rtmps://a.example:4443/live/other"), ("?token=u", "rtmps://a.example:4443/live/sub?token=u"),
    ] as [(String?, String)])
    func theSameHostIsFollowed(tcURL: String?, target: String) throws {
        #expect(try redirect(tcURL) == target)
    }

    @Test func tlsIsNeverGivenUpButMayBeTakenUp() throws {
        for allows in [false, true] {
            #expect(
                try redirect("rtmp://a.example/live", allowsRedirect: allows)
                    == "without TLS, to rtmp://a.example/live, which is never done")
        }
        #expect(try redirect("rtmps://h/live", from: "rtmp://h/live") == "rtmps://h/live")
        #expect(try redirect("//h/live", from: "rtmp://h/live") == "rtmp://h/live")
    }

    @Test func anotherHostIsAMatterOfPermission() throws {
        let other = "rtmps://b.example/live?token=hush"
        #expect(try redirect(other) == "to another host, rtmps://b.example/live?<redacted>, which is not allowed")
        #expect(try redirect("//a.example.evil.example/live").hasPrefix("to another host"))
        #expect(try redirect(other, allowsRedirect: true) == other)
        #expect(try redirect("//[::1]/x", from: "rtmp://[::1]/live") == "rtmp://[::1]/x")
    }

    @Test(arguments: [
        "http://a.example/live", "a.example:1935/live", "rtmps://", "rtmps://a.example", "rtmps://a.example:0/live",
        "/", "//", "/li ve", "../x", "/a/./b", "rtmps://eve:pw@a.example/live", "rtmps://a.example/live/k3y",
        "rtmps://a.example/live/%6B3y", "rtmps://a.example/live/k%2533y", "/li\u{9b}31m\u{85}FAKE\u{202e}", "/é",
        "/" + String(repeating: "x", count: 3000),
    ])
    func whatIsNoPlaceToGo(tcURL: String) throws {
        let why = try redirect(tcURL, allowsRedirect: true)
        #expect(
            why.hasPrefix("to a URL that cannot be used") || why.hasPrefix("as another user")
                || why.contains("key in it"))
    }

    @Test func connectSaysThatRequestsAreUnderstoodAndNothingElse() throws {
        let endpoint = try RTMPEndpoint("rtmp://h/live")
        let object = try AMF0Reader.values(in: RTMPCommand.connect(to: endpoint).span.bytes)[2]
        #expect(object["capsEx"] == .number(1))
        #expect(object["fourCcList"] == nil && object["videoFourCcInfoMap"] == nil)
    }

    @Test(arguments: [nil, "/moved"] as [String?]) func theSinkOffersWhatTheServerAskedFor(tcURL: String?) throws {
        let server = try ScriptedServer { peer in
            peer.acceptPublisher()
            peer.send(reconnectRequest(to: tcURL))
            peer.receiveAll()
        }
        let endpoint = try RTMPEndpoint("rtmp://127.0.0.1:\(server.port)/live")
        let clock = MonotonicClock()
        let notices = Monitor<[String]>([])
        let publisher = RTMPPublisher(
            settings: RTMPDestinationSettings(endpoint: endpoint, key: Secret("k3y")),
            format: .smallest, clock: clock, control: try PublishControl(clock: clock),
            onNotice: { notice in notices.withLock { $0.append(notice) } })
        #expect(publisher.redirect == nil)
        try publisher.open()
        try waitFor("the request", within: 30) {
            try publisher.service()
            return publisher.redirect != nil
        }
        #expect(publisher.redirect?.tcURL == endpoint.schemeAndHost + (tcURL ?? "/live"))
        #expect(notices.withLock { $0 } == [])
        try publisher.finish(until: clock.now() + .seconds(1))
    }

    /// A redirect of a whole broadcast: the first server gets an orderly end, and the second one begins with a
    /// keyframe. What the second one's URL has of the key is not shown.
    @Test func aDestinationMovesAtAKeyframe() throws {
        let fixture = try FLVFixture.shared.get()
        let ends = Monitor<[String]>([])
        let second = try ScriptedServer { peer in
            peer.acceptPublisher()
            ends.signal { $0.append("moved") }
            peer.receive(until: "deleteStream")
            ends.signal { $0.append("second ended") }
        }
        let port = second.port
        let first = try ScriptedServer { peer in
            peer.acceptPublisher()
            peer.send(reconnectRequest(to: "rtmp://127.0.0.1:\(port)/moved-hush5"))
            peer.receive(until: "deleteStream")
            ends.signal { $0.append("first ended") }
        }
        let endpoint = try RTMPEndpoint("rtmp://127.0.0.1:\(first.port)/live")
        let rtmp = RTMPDestinationSettings(endpoint: endpoint, key: Secret("show?token=hush5"))
        let run = try DestinationRun(
            DestinationSettings(name: "main", kind: .rtmp(rtmp)),
            log: FLVFixture.log(), format: fixture.format)
        try run.wait(for: .publishing)
        // Writes keyframes repeatedly, until the publisher has read the request before one of them.
        try waitFor("a broadcast at the second server", within: 30) {
            let count = Int64(run.destination.snapshot.video.packets)
            fixture.write(0..<1, to: run.log, offset: .milliseconds(count * 40))
            return ends.withLock { $0.contains("moved") }
        }
        run.stop()
        #expect(ends.withLock { $0 } == ["first ended", "moved", "second ended"])
        let shown = "rtmp://127.0.0.1:\(port)/moved-<redacted>"
        #expect(run.destination.snapshot.location == shown)
        #expect(run.notices.contains { $0.hasSuffix("going on at \(shown), as the server asked") })
        #expect(!run.notices.contains { $0.contains("hush5") }, "\(run.notices)")
        #expect(run.destination.snapshot.connects == 2 && run.destination.snapshot.failures.isEmpty)
    }
}
