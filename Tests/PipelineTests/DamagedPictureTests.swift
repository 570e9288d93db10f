import Buffering
import Configuration
import Ingest
import IngestProtocol
import MediaCore
import Privacy
import TestLimits
import TestSupport
import Testing

@testable import Pipeline

/// A client reports the damage of its picture. Only the damage is converted, and only if the canvas still shows the
/// whole previous picture. Otherwise the whole picture is converted.
@Suite(.endsWithin(60)) struct DamagedPictureTests {
    private static let format = VideoSampleFormat(packed: .gray, width: 320, height: 180)
    private static let rows = 100..<108

    private struct Client {
        let rig: HostRig
        var pts = MediaTime.zero
        var sent: UInt64 = 0
        /// The expected picture; each row has one grey.
        var picture = [UInt8](repeating: 10, count: 320 * 180)

        init(pictures: Int = 3, edit: @escaping (inout Configuration) -> Void = { _ in }) throws {
            rig = try HostRig {
                if pictures == 2 { $0.video.skipsUnchanged = false }
                edit(&$0)
            }
            try rig.start()
            if pictures == 2 { try rig.broadcast.slot.shedPicture() }
            #expect(try send(nil) == 320 * 180)
            try waitFor("the first picture") { [rig] in try rig.broadcast.counters.framesEncoded.current == 1 }
        }

        var host: BroadcastHost { rig.host }

        /// Waits until the video thread has encoded each picture, and holds only the last one.
        func waitUntilShown() throws {
            let counters = try rig.broadcast.counters
            try waitFor("picture \(sent)") { counters.framesEncoded.current == sent }
        }

        var converted: UInt64 { get throws { try rig.broadcast.counters.framesPartial.current } }

        /// Changes rows of the picture, and sends it with these rows as the only damage.
        ///
        /// - Returns: the bytes that were read; nil if the picture was not wanted.
        mutating func change(
            _ rows: Range<Int>, to value: UInt8, _ edit: (inout VideoMessage) -> Void = { _ in }
        ) throws -> Int? {
            for index in rows.lowerBound * 320..<rows.upperBound * 320 { picture[index] = value }
            var damage = PictureDamage()
            _ = damage.add(.init(x: 0, y: UInt16(rows.lowerBound), width: 320, height: UInt16(rows.count)))
            return try send(damage, edit)
        }

        mutating func send(
            _ damage: PictureDamage?, cutShort: Bool = false, _ edit: (inout VideoMessage) -> Void = { _ in }
        ) throws -> Int? {
            pts += .milliseconds(100)
            rig.clock.advance(by: .milliseconds(100))
            var message = VideoMessage(pts: pts, format: DamagedPictureTests.format, orientation: .up)
            // The session checks which picture the damage refers to.
            message.damage = damage.map { DamageField(since: 0, damage: $0) }
            edit(&message)
            let sink = try rig.broadcast.inlet
            guard try sink.beginVideo(message, arrival: rig.clock.now()) else { return nil }
            var asked = 0
            while let band = sink.nextBand() {
                asked += band.byteCount
                for index in 0..<band.byteCount { sink.bandBuffer[index] = picture[band.payloadOffset + index] }
                try sink.bandArrived()
                if cutShort {
                    sink.cancelVideo()
                    return asked
                }
            }
            sink.endVideo(arrival: rig.clock.now())
            sent += 1
            return asked
        }

        /// Expects that the last canvas that was handed over shows the picture.
        func expectCanvas(_ comment: Comment, location: SourceLocation = #_sourceLocation) throws {
            let newest = try #require(rig.broadcast.slot.newest, comment)
            let planes = newest.planes
            let isRight = (0..<180).allSatisfy { row in
                (0..<320).allSatisfy { planes.y[row * planes.yStride + $0] == picture[row * 320 + $0] }
            }
            #expect(isRight, comment, sourceLocation: location)
        }

        func end() {
            host.ended(.endedByOperator)
            _ = host.shutDown()
        }
    }

    private static let whole = 320 * 180

    @Test(arguments: [2, 3]) func onlyWhatHasChangedIsConverted(pictures: Int) throws {
        var client = try Client(pictures: pictures)
        defer { client.end() }
        for (number, rows) in [0..<1, 100..<108, 179..<180, 20..<60].enumerated() {
            let asked = try client.change(rows, to: UInt8(100 + number))
            #expect(try #require(asked) < Self.whole)
            try client.expectCanvas("rows \(rows)")
            try client.waitUntilShown()
        }
        #expect(try client.converted == 4)
        // First without damage, then with damage again.
        #expect(try client.send(nil) == Self.whole)
        try client.waitUntilShown()
        #expect(try #require(try client.change(3..<4, to: 9)) < Self.whole)
        try client.expectCanvas("behind a whole one")
    }

    /// With two pictures, a waiting one is dropped for the next, or the next is not wanted while the video thread holds
    /// both. What follows is then converted as a whole.
    @Test func fasterThanTheVideoThreadWithTwoPictures() throws {
        var client = try Client(pictures: 2)
        defer { client.end() }
        for number in 0..<60 {
            let row = number * 3
            guard try client.change(row..<row + 2, to: UInt8(100 + number)) != nil else { continue }
            try client.expectCanvas("picture \(number)")
        }
    }

    /// A picture that looks like the previous one is dropped, and the next one builds on the shown picture.
    @Test func behindAPictureThatChangesNothing() throws {
        var client = try Client()
        defer { client.end() }
        for _ in 0..<8 { _ = try client.change(Self.rows, to: 10) }
        #expect(try client.rig.broadcast.counters.framesUnchanged.current > 0)
        #expect(try #require(try client.change(Self.rows, to: 90)) < Self.whole)
        try client.expectCanvas("the change")
    }

    /// libyuv only converts whole pictures, so none is copied first.
    @Test func behindAScalerOfWholePictures() throws {
        var client = try Client { $0.video.scaler = .libyuv }
        defer { client.end() }
        #expect(try client.change(Self.rows, to: 90) == Self.whole)
        try client.expectCanvas("the change")
        #expect(try client.converted == 0)
    }

    /// Events between two pictures after which the canvas may not show the first one.
    enum Between: CaseIterable {
        case orientation, size, secureRegions, secureRegionsMoved, standingRegion, standingRegionAndBack
        case curtain, refused, cutShort, outOfOrder, heldBack, thrownAway, otherMatrix
    }

    @Test(arguments: Between.allCases) func elseAllOfItIs(between: Between) throws {
        var client = try Client()
        defer { client.end() }
        let app = PrivacyHolder(.app, "kiosk")
        func hide() throws {
            try client.host.privacy.hide(
                StandingRegion(
                    holder: app, name: "a", edges: RectEdges(left: 0, top: 0, right: 20, bottom: 20), unit: .pixels))
        }
        func show() throws { try client.host.privacy.show(nil, of: "kiosk") { $0 == app } }
        var edit: (inout VideoMessage) -> Void = { _ in }
        func secure(_ x: Int) -> (inout VideoMessage) -> Void {
            { $0.regions.hide(x: x, y: 0, width: 8, height: 8, pictureWidth: 320, pictureHeight: 180) }
        }
        switch between {
        case .orientation: edit = { $0.orientationRaw = 3 }
        case .size: edit = { $0.format = VideoSampleFormat(packed: .gray, width: 320, height: 90) }
        case .otherMatrix: edit = { $0.format.color.range = .full }
        case .secureRegions: edit = secure(40)
        case .secureRegionsMoved:
            #expect(try client.change(Self.rows, to: 50, secure(40)) == Self.whole)
            #expect(try #require(try client.change(Self.rows, to: 51, secure(40))) < Self.whole, "the same ones")
            edit = secure(42)
        case .standingRegion: try hide()
        case .standingRegionAndBack:
            try hide()
            try show()
        case .curtain:
            try client.host.privacy.raise(app, reason: "test")
            client.host.privacy.lower(app, reason: "test")
        case .refused: try client.rig.broadcast.inlet.refusedRegions("refused", arrival: client.rig.clock.now())
        case .cutShort: _ = try client.send(nil, cutShort: true)
        case .outOfOrder:
            client.pts = .zero - .milliseconds(50)
            #expect(try client.change(Self.rows, to: 77) == nil)
            client.pts = .milliseconds(100)
        case .heldBack:
            try client.host.operating.pause(true)
            #expect(try client.change(Self.rows, to: 60) == nil)
            try client.host.operating.pause(false)
        case .thrownAway: try client.rig.broadcast.slot.throwAway()
        }
        let before = try client.converted
        #expect(try client.change(Self.rows, to: 70, edit) == (between == .size ? Self.whole / 2 : Self.whole))
        #expect(try client.converted == before)
    }
}
