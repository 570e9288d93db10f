import Buffering
import Ingest
import IngestProtocol
import MediaCore
import Privacy
import TestLimits
import TestSupport
import Testing

@testable import Pipeline

/// A picture that comes after a refused one, and before the curtain may fall, is shown as soon as possible. No other
/// picture is.
@Suite(.endsWithin(60)) struct KeptPictureTests {
    private static let format = VideoSampleFormat(packed: .gray, width: 64, height: 36)
    private static let app = PrivacyHolder(.app, "kiosk")

    /// The client of a broadcast whose first picture has been shown.
    private struct Client {
        let rig: HostRig
        var pts = MediaTime.zero

        /// - Parameter consulted: the app whose answer is awaited. In that case no picture has been sent.
        init(consulted: PrivacyHolder? = nil) throws {
            rig = try HostRig()
            if let consulted { _ = rig.host.privacy.consult(consulted, .any, by: .daemon) }
            try rig.start()
            guard consulted == nil else { return }
            try send(10)
            let counters = try rig.broadcast.counters
            try waitFor("the first picture") { counters.framesEncoded.current == 1 }
        }

        var host: BroadcastHost { rig.host }
        var holders: [String] { host.privacy.curtain.all.map { "\($0.holder)" } }
        var encoded: UInt64 { get throws { try rig.broadcast.counters.framesEncoded.current } }
        var curtained: UInt64 { get throws { try rig.broadcast.framesCurtained } }

        /// Sends a picture of one grey. With `cutShort` it does not arrive in whole.
        mutating func send(_ value: UInt8, cutShort: Bool = false) throws {
            pts += .milliseconds(100)
            rig.clock.advance(by: .milliseconds(100))
            let message = VideoMessage(pts: pts, format: KeptPictureTests.format, orientation: .up)
            let sink = try rig.broadcast.inlet
            guard try sink.beginVideo(message, arrival: rig.clock.now()) else { return }
            while !cutShort, let band = sink.nextBand() {
                for index in 0..<band.byteCount { sink.bandBuffer[index] = value }
                try sink.bandArrived()
            }
            if cutShort { sink.cancelVideo() } else { sink.endVideo(arrival: rig.clock.now()) }
        }

        /// Repeats the last picture.
        mutating func repeatLast() throws {
            pts += .milliseconds(100)
            rig.clock.advance(by: .milliseconds(100))
            let sink = try rig.broadcast.inlet
            try sink.repeatVideo(
                VideoMessage(pts: pts, format: KeptPictureTests.format, orientation: .up), arrival: rig.clock.now())
        }

        /// Returns when the video thread has drawn the curtain, because it holds a second picture until then.
        func refuse() throws {
            let (before, wasUp) = (try repeated, host.privacy.isCurtainUp)
            try rig.broadcast.inlet.refusedRegions("refused", arrival: rig.clock.now())
            if !wasUp { try TestSupport.waitFor("the curtain") { try repeated > before } }
        }

        private var repeated: UInt64 { get throws { try rig.broadcast.counters.framesRepeated.current } }

        func end() {
            host.ended(.endedByOperator)
            _ = host.shutDown()
        }

        /// Lets time pass until `condition` is true.
        func waitFor(_ what: String, _ condition: () throws -> Bool) throws {
            try TestSupport.waitFor(what) {
                rig.clock.advance(by: .milliseconds(10))
                return try condition()
            }
        }

        /// Acts like the ingest thread when it waits.
        @discardableResult
        func wait(_ span: MediaTime = .zero) throws -> MediaTime? {
            rig.clock.advance(by: span)
            return try rig.broadcast.inlet.attend(at: rig.clock.now())
        }
    }

    @Test func theLastGoodPictureIsShownWhenThePeriodEnds() throws {
        var client = try Client()
        defer { client.end() }
        try client.refuse()
        #expect(client.holders == ["daemon:bad_regions"])
        #expect(try client.wait() == nil, "nothing is kept yet")
        try client.send(20)
        try client.send(30)
        let due = try #require(try client.wait())
        #expect(due - client.rig.clock.now() == .milliseconds(800))
        #expect(client.holders == ["daemon:bad_regions"])
        #expect(try client.encoded == 1)
        #expect(try client.curtained == 1, "the first of the two")
        #expect(try client.wait(.milliseconds(799)) != nil)
        #expect(client.holders == ["daemon:bad_regions"])
        #expect(try client.wait(.milliseconds(1)) == nil)
        #expect(client.holders.isEmpty)
        try client.waitFor("the kept picture") { try client.encoded == 2 }
        // It is the last picture that the client knows of.
        try client.repeatLast()
        #expect(try client.curtained == 1)
    }

    /// While the picture is kept, the client may report that nothing has changed.
    @Test func unchangedIsTheOneThatIsKept() throws {
        var client = try Client()
        defer { client.end() }
        try client.refuse()
        try client.send(20)
        try client.repeatLast()
        try client.wait(.seconds(1))
        #expect(client.holders.isEmpty)
        try client.waitFor("the kept picture") { try client.encoded == 2 }
        try client.repeatLast()
        #expect(try client.curtained == 1, "the one that was said to be unchanged under the curtain")
        #expect(try client.rig.broadcast.counters.framesAbandoned.current == 0)
    }

    /// A consulted app hides the current picture and then shows later ones. The picture of a still screen must be sent
    /// again.
    @Test func aKeptPictureThatIsThrownAwayIsUnknown() throws {
        var client = try Client(consulted: Self.app)
        defer { client.end() }
        #expect(client.holders == ["daemon:start", "daemon:consulting"])
        try client.send(20)
        try client.repeatLast()
        try client.host.privacy.raise(Self.app, reason: "test")
        #expect(client.holders == ["daemon:start", "app:kiosk"])
        // The picture would be hidden in any case.
        try client.repeatLast()
        client.host.privacy.lower(Self.app, reason: "test")
        #expect(client.holders == ["daemon:start"])
        for _ in 1...2 {
            let error = #expect(throws: ProtocolError.self) { try client.repeatLast() }
            #expect(error?.code == .unknownPicture)
        }
        try client.send(20)
        #expect(client.holders.isEmpty)
        try client.waitFor("the picture") { try client.encoded == 1 }
        try client.repeatLast()
    }

    /// The same if the refused picture was the last one.
    @Test func anUnchangedPictureAfterARefusedOneIsUnknown() throws {
        var client = try Client()
        defer { client.end() }
        try client.refuse()
        let error = #expect(throws: ProtocolError.self) { try client.repeatLast() }
        #expect(error?.code == .unknownPicture)
        try client.send(20)
        try client.wait(.seconds(1))
        #expect(client.holders.isEmpty)
    }

    @Test func aPictureFromBeforeARefusalIsNotShown() throws {
        var client = try Client()
        defer { client.end() }
        try client.refuse()
        try client.send(20)
        try client.refuse()
        #expect(try client.wait(.seconds(2)) == nil)
        #expect(client.holders == ["daemon:bad_regions"])
        #expect(try client.curtained == 1)
        // As usual, the first picture that may be shown is shown.
        try client.send(30)
        #expect(client.holders.isEmpty)
        try client.waitFor("the picture") { try client.encoded == 2 }
    }

    /// A picture that does not arrive in whole leaves the one before it.
    @Test func aPictureThatIsCutShortIsNotShown() throws {
        var client = try Client()
        defer { client.end() }
        try client.refuse()
        try client.send(20, cutShort: true)
        #expect(try client.wait(.seconds(2)) == nil)
        #expect(client.holders == ["daemon:bad_regions"])
        try client.refuse()
        try client.send(30)
        try client.send(40, cutShort: true)
        try client.wait(.seconds(1))
        #expect(client.holders.isEmpty)
        try client.waitFor("the whole one") { try client.encoded == 2 }
    }

    /// A raise hides the earlier pictures, and those that arrive meanwhile.
    @Test(arguments: [PrivacyHolder(.app, "kiosk"), PrivacyHolder(.operator), PrivacyHolder(.client)])
    func nothingIsKeptForOthers(holder: PrivacyHolder) throws {
        var client = try Client()
        defer { client.end() }
        try client.refuse()
        try client.send(20)
        try client.host.privacy.raise(holder, reason: "test")
        // The hold is released before the ingest thread has checked.
        client.host.privacy.lower(holder, reason: "test")
        try client.wait(.seconds(2))
        #expect(client.holders == ["daemon:bad_regions"])
        #expect(try client.curtained == 1)

        try client.refuse()
        try client.host.privacy.raise(holder, reason: "test")
        try client.send(30)
        client.host.privacy.lower(holder, reason: "test")
        try client.wait(.seconds(2))
        #expect(client.holders == ["daemon:bad_regions"])
        #expect(try client.curtained == 2)
        #expect(try client.encoded == 1)
        try client.send(40)
        #expect(client.holders.isEmpty)
    }

    /// The picture is not shown while an operator pauses the broadcast, but afterwards.
    @Test func anOperatorsPauseKeepsIt() throws {
        var client = try Client()
        defer { client.end() }
        try client.refuse()
        try client.send(20)
        try client.host.operating.pause(true)
        try client.wait(.seconds(2))
        #expect(client.holders == ["daemon:bad_regions"])
        try client.host.operating.pause(false)
        try client.wait()
        #expect(client.holders.isEmpty)
        try client.waitFor("the picture") { try client.encoded == 2 }
    }

    /// With two pictures, as when memory is short, the kept one makes room for the next.
    @Test func twoPicturesAreEnough() throws {
        var client = try Client()
        defer { client.end() }
        try client.rig.broadcast.slot.shedPicture()
        try client.refuse()
        for value in 1...5 { try client.send(UInt8(20 * value)) }
        try client.wait(.seconds(1))
        #expect(client.holders.isEmpty)
        try client.waitFor("the last") { try client.encoded == 2 }
        #expect(try client.curtained == 4)
        #expect(try client.rig.broadcast.counters.framesAbandoned.current == 0)
    }

    /// The client's states: the kinds of holders while the curtain is up, and that it is down.
    @Test func theClientIsToldWhatViewersSee() throws {
        var client = try Client()
        defer { client.end() }
        func told() -> (BroadcastState?, UInt32, String) {
            let state = client.host.curtainState()
            return (state.state, state.value, state.text)
        }
        #expect(told().0 == .curtainDown && told().1 == 0)
        try client.refuse()
        #expect(told().0 == .curtainUp && told().1 == CurtainCauses.awaitsPicture.rawValue)
        #expect(told().2.contains("a picture was refused, so what it meant to hide is not known"))
        try client.host.privacy.raise(Self.app, reason: "secret reason")
        #expect(told().1 == CurtainCauses([.awaitsPicture, .app]).rawValue)
        #expect(!told().2.contains("kiosk") && !told().2.contains("secret"))
        client.host.privacy.lower(Self.app, reason: "")
        try client.send(20)
        try client.wait(.seconds(1))
        #expect(told().0 == .curtainDown)
        // Only holds that hide something count. Holds that wait for a picture end with it.
        #expect(client.host.curtainObjections == 1)
        client.host.paused()
        client.host.resumed()
        #expect(told().0 == .curtainDown && client.host.curtainObjections == 2)
        client.host.paused()
        #expect(told().1 == CurtainCauses.client.rawValue)
    }
}
