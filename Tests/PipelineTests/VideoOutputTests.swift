import Buffering
import MediaCore
import Privacy
import Testing

@testable import Pipeline

/// Promise: what reaches the encoder hides all standing regions, belongs to the right epoch, and has a later time than
/// the frame before it.
@Suite struct VideoOutputTests {
    private static func hide(_ rig: OutputRig) {
        _ = rig.standing.set(
            StandingRegion(
                holder: PrivacyHolder(.app, "kiosk"), name: "a", edges: RectEdges(left: 0, top: 0, right: 1, bottom: 1),
                unit: .normalized))
    }

    @Test func framesHaveRisingTimesAndTheirArrival() throws {
        let rig = try OutputRig()
        try rig.show(100, at: .milliseconds(40))
        #expect(!rig.output.lastWasRepeat)
        // A clock that stands still must not give two frames one time.
        try rig.output.encode(.milliseconds(40), arrival: .zero)
        #expect(rig.output.lastWasRepeat)
        try rig.output.encode(.milliseconds(20), arrival: .zero)
        #expect(rig.milliseconds == [40, 41, 42])
        #expect(rig.packets.map(\.arrival) == [.seconds(1000), .zero, .zero])
        #expect(rig.packets[0].isKeyframe)
    }

    /// The region comes after the picture was shown, and before it is encoded again.
    @Test func aRegionIsHiddenInTheVeryNextFrame() throws {
        let rig = try OutputRig()
        try rig.show(100, at: .zero)
        #expect(rig.greys == [100])
        Self.hide(rig)
        try rig.output.encode(.milliseconds(40), arrival: .zero)
        #expect(rig.greys == [OutputRig.regionGrey])
    }

    /// A screen that stands still sends nothing, so the region itself makes a frame due.
    @Test func aNewRegionOwesAFrame() throws {
        let rig = try OutputRig()
        try rig.show(100, at: .zero)
        rig.output.coverStandingRegions()
        #expect(!rig.output.owesFrame)
        Self.hide(rig)
        rig.output.coverStandingRegions()
        #expect(rig.output.owesFrame && rig.greys == [OutputRig.regionGrey])
        try rig.output.encode(.milliseconds(40), arrival: .zero)
        #expect(!rig.output.owesFrame)
    }

    /// Frames keep no distance from a repeat, which shows nothing new. Regions that come and go, and a curtain that
    /// goes up and down, do not raise the frame rate.
    @Test func framesKeepTheirDistanceFromNewsOnly() throws {
        let rig = try OutputRig()
        func waits(_ pts: Int64) -> Bool { rig.output.schedule.decide(.milliseconds(pts)) != .due }
        try rig.show(100, at: .zero)
        #expect(waits(5))
        try rig.output.encode(.milliseconds(100), arrival: .zero)
        #expect(!waits(105))
        #expect(rig.output.schedule.decideChange(.milliseconds(105)) != .due, "a region that is painted now")
        Self.hide(rig)
        try rig.output.encode(.milliseconds(200), arrival: .zero)
        #expect(waits(205), "a region was painted")
        rig.output.shown.drawCurtain()
        try rig.output.encode(.milliseconds(300), arrival: .zero)
        #expect(waits(305), "the curtain")
    }

    @Test(arguments: [MediaTime?.none, .milliseconds(100)])
    func anEpochBeginsWithAKeyframeAfterWhatWasKept(last: MediaTime?) throws {
        let rig = try OutputRig()
        for pts in [0, 100, 200, 300] { try rig.show(100, at: .milliseconds(Int64(pts))) }
        rig.raise()
        let epoch = rig.curtain.stamp.epoch
        #expect(rig.output.enter(epoch, last.map { TakenBack(lastVideo: $0) }) == last)
        #expect(rig.output.epoch == epoch)
        try rig.output.encode(.milliseconds(150), arrival: .zero)
        // Without a take-back, the stream cannot go back.
        #expect(rig.milliseconds == [0, 100, 200, 300, last == nil ? 301 : 150])
        #expect(rig.packets.map(\.isKeyframe) == [true, false, false, false, true])
        #expect(rig.packets.map(\.epoch) == Array(repeating: .first, count: 4) + [epoch])
    }

    /// A snapshot that was asked for before the raise must not get a frame from before it.
    @Test func aSnapshotIsOfTheEpochInForce() throws {
        let rig = try OutputRig()
        #expect(try rig.snapshots.file() == nil)
        rig.raise()
        rig.snapshots.forget(before: rig.curtain.stamp.epoch)
        try rig.show(100, at: .zero)
        #expect(try rig.snapshots.file() == nil, "the output is still in the epoch before")
        _ = rig.output.enter(rig.curtain.stamp.epoch, nil)
        try rig.output.encode(.milliseconds(40), arrival: .zero)
        #expect(try rig.snapshots.file() == [1])
    }

    @Test func theCurtainIsRepeatedMoreOftenThanAStillScreen() throws {
        let rig = try OutputRig()
        #expect(rig.output.repeatInterval == .milliseconds(100), "the background counts as curtain")
        try rig.show(100, at: .zero)
        #expect(rig.output.repeatInterval == .seconds(1))
        rig.output.shown.drawCurtain()
        #expect(rig.output.repeatInterval == .milliseconds(100))
    }
}
