import IngestProtocol
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// Promise: a picture that is refused never leaves a client, whose screen then stands still, black for good.
@Suite struct RefusedPictureTests {
    private static func picture(_ color: RGB) -> RawSample {
        RawSample(RGBImage(width: 320, height: 180, filling: color), format: .i420)
    }
    private static let magenta = picture(RGB(1, 0, 1))
    private static let green = picture(RGB(0, 1, 0))
    private static let blue = picture(RGB(0, 0, 1))

    /// Waits until the picture has been repeated on one connection: where a curtain has broken another, on the next.
    private func waitUntilRepeated(_ stage: Stage) throws {
        var first: Int?
        try waitFor("the picture to be repeated", evidence: { stage.daemon.log }) {
            let state = try stage.destination()["state"] as? String
            let video = try stage.daemon.status()["video"] as? [String: Any]
            guard state == "live" || state == "congested", let count = video?["frames_repeated"] as? Int else {
                first = nil
                return false
            }
            first = first ?? count
            return count > (first ?? count) + 5
        }
    }

    private func states(_ client: CaptureClient) -> [BroadcastState] {
        client.replies.compactMap {
            guard case .state(let message) = $0 else { return nil }
            return message.state == .curtainUp || message.state == .curtainDown ? message.state : nil
        }
    }

    @Test(.inItsTurn) func theLastGoodPictureIsShownAfterwards() async throws {
        try await blocking {
            let stage = try Stage()
            let playback = try stage.live(showing: Self.green)
            let client = playback.client
            try waitFor("the first picture") { states(client) == [.curtainUp, .curtainDown] }
            try client.sendWithBadRegions(Self.magenta, pts: playback.now)
            try waitFor("the client to be told") { states(client).last == .curtainUp }
            // One good picture within the second, and then nothing: its screen stands still.
            try client.send(Self.blue, pts: playback.now)
            try waitFor("the curtain to fall", within: 5, evidence: { stage.daemon.log }) {
                states(client) == [.curtainUp, .curtainDown, .curtainUp, .curtainDown]
            }
            // It is the last picture also to the client.
            var same = VideoMessage(pts: playback.now, format: Self.blue.format, orientation: .up)
            same.isUnchanged = true
            try client.send { same.encode(sequence: $0, payloadBytes: 0, into: &$1) }
            try waitUntilRepeated(stage)
            try client.finish()
            #expect(client.errors.map(\.code) == [.badSecureRegions])
            try SeenColors(endOf: stage).expectGreenCurtain(then: .blue)
        }
    }

    /// A curtain that was up for a moment has thrown pictures away, too: a client that sends the last one again when it
    /// is told that the curtain is down is seen.
    @Test(.inItsTurn) func aPauseWithinATurnIsTold() async throws {
        try await blocking {
            let stage = try Stage()
            let playback = try stage.live(showing: Self.green)
            let client = playback.client
            try waitFor("the first picture") { states(client) == [.curtainUp, .curtainDown] }
            try client.sendPausedAndResumed()
            try waitFor("the client to be told", evidence: { stage.daemon.log }) {
                states(client).count > 2 && states(client).last == .curtainDown
            }
            try client.send(Self.blue, pts: playback.now)
            try waitUntilRepeated(stage)
            try client.finish()
            try SeenColors(endOf: stage).expectGreenCurtain(then: .blue)
        }
    }

    /// What an app names while a picture is kept is covered when it is shown.
    @Test(.inItsTurn) func aKeptPictureHasTheRegionsThatAreInForceThen() async throws {
        try await blocking {
            let stage = try Stage()
            let playback = try stage.live(showing: Self.green)
            let client = playback.client
            try client.sendWithBadRegions(Self.magenta, pts: playback.now)
            try waitFor("the client to be told") { states(client).last == .curtainUp }
            try client.send(Self.blue, pts: playback.now)
            let answer = try UnixHTTPClient.ask(
                "POST", "/regions",
                body: #"{"app": "kiosk", "name": "all", "x": 0, "y": 0, "width": 1, "height": 1}"#,
                socket: stage.daemon.controlSocket)
            #expect(answer.status == 200, "\(answer)")
            try waitFor("the curtain to fall", within: 5, evidence: { stage.daemon.log }) {
                states(client).last == .curtainDown
            }
            try client.finish()
            let seen = try SeenColors(endOf: stage).connections
            #expect(!seen.joined().contains(.blue) && !seen.dropFirst().joined().contains(.green), "\(seen)")
        }
    }

    /// Two hundred pictures outside of twenty pauses: each was taken or dropped.
    @Test(.inItsTurn) func picturesThatWaitAtAPauseAreCounted() async throws {
        try await blocking {
            let stage = try Stage()
            let client = try CaptureClient(socket: stage.daemon.ingestSocket)
            try client.start()
            let playback = Playback(client)
            for round in 0..<20 {
                for number in 0..<10 {
                    try client.send(
                        NumberedPictures.landscape(UInt8(10 * round + number)), pts: playback.now)
                    pause(until: MonotonicClock().now() + .milliseconds(20))
                }
                try client.sendPaused()
                for number in 0..<2 { try client.send(NumberedPictures.landscape(UInt8(number)), pts: playback.now) }
                try client.sendResumed()
            }
            let goodbye = try client.finish()
            #expect(goodbye.framesTaken + goodbye.framesDropped == 200, "\(goodbye)")
            try stage.end()
        }
    }
}
