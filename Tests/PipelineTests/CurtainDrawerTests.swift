import Buffering
import FrameGeometry
import MediaCore
import Painting
import Privacy
import TestSupport
import Testing

@testable import Pipeline

/// Promise: a raise draws the curtain once its take-back is known, fills the time that was taken back with it, and
/// stops when that is taken back, too.
@Suite struct CurtainDrawerTests {
    /// A broadcast of a second, 100 ms a frame, of which the raise keeps the first 300 ms.
    private static func raised(encodingTime: MediaTime = .zero) throws -> OutputRig {
        let rig = try OutputRig()
        for pts in stride(from: Int64(0), through: 1000, by: 100) {
            try rig.show(100, at: .milliseconds(pts))
            if pts < 1000 { rig.time.advance(by: .milliseconds(100)) }
        }
        rig.raise()
        rig.takenBack = TakenBack(lastVideo: .milliseconds(300))
        rig.encodingTime = encodingTime
        return rig
    }

    private static func filling(_ rig: OutputRig) -> [Int64] { Array(rig.milliseconds.dropFirst(11)) }

    @Test func withoutARaiseNothingIsDrawn() throws {
        let rig = try OutputRig()
        try rig.show(100, at: .zero)
        try rig.drawer.drawIfRaised()
        #expect(rig.greys == [100] && rig.packets.count == 1)
        #expect(rig.drawer.deadline == nil && rig.asked.isEmpty)
    }

    @Test func theGapOfATakeBackIsFilledWithTheCurtain() throws {
        let rig = try Self.raised()
        try rig.drawer.drawIfRaised()
        #expect(rig.asked == [rig.curtain.stamp.epoch])
        #expect(rig.greys == [OutputRig.curtainGrey])
        #expect(Self.filling(rig) == [400, 500, 600, 700, 800, 1000])
        #expect(rig.packets.dropFirst(11).map(\.isKeyframe) == [true, false, false, false, false, false])
        #expect(rig.packets.dropFirst(11).allSatisfy { $0.epoch == rig.curtain.stamp.epoch && $0.arrival == .zero })
        // The raise is drawn: it is not drawn again.
        #expect(rig.drawer.deadline == nil)
        try rig.drawer.drawIfRaised()
        #expect(rig.packets.count == 17)
    }

    /// Sound goes on while the gap is filled, so that time is filled, too.
    @Test func theTimeOfFillingIsFilledAsWell() throws {
        let rig = try Self.raised(encodingTime: .milliseconds(20))
        try rig.drawer.drawIfRaised()
        // Five frames up to 800 ms take 100 ms, in which 900 is due, and then 1000.
        #expect(Self.filling(rig) == [400, 500, 600, 700, 800, 900, 1000, 1140])
    }

    /// An encoder that takes longer than the frames last cannot close the gap, and must not try for ever.
    @Test func anEncoderThatIsTooSlowLeavesAGap() throws {
        let rig = try Self.raised(encodingTime: .milliseconds(150))
        try rig.drawer.drawIfRaised()
        #expect(Self.filling(rig).count == 2 * 7 + 1)
        #expect(Self.filling(rig).last == Int64(1000 + 14 * 150))
    }

    @Test func anotherRaiseEndsTheFilling() throws {
        let rig = try Self.raised()
        rig.onPacket = { [unowned rig] in
            guard rig.packets.count == 13 else { return }
            rig.lower()
            rig.raise()
        }
        let first = rig.curtain.stamp.epoch
        try rig.drawer.drawIfRaised()
        #expect(Self.filling(rig) == [400, 500, 1000])
        #expect(rig.output.epoch == first && rig.curtain.stamp.epoch != first)
        // It is drawn 100 ms after the one before.
        #expect(rig.drawer.deadline == rig.time.now() + CurtainDrawer.interval)
        try rig.drawer.drawIfRaised()
        #expect(rig.packets.count == 14)
        rig.time.advance(by: CurtainDrawer.interval)
        rig.takenBack = TakenBack(lastVideo: .milliseconds(400))
        try rig.drawer.drawIfRaised()
        #expect(rig.output.epoch == rig.curtain.stamp.epoch)
        #expect(Self.filling(rig).dropFirst(3) == [500, 600, 700, 800, 900, 1100])
    }

    /// The end of the broadcast does not wait for hundreds of frames.
    @Test func anEndBoundsTheFilling() throws {
        let rig = try Self.raised(encodingTime: .milliseconds(600))
        rig.isEnding = true
        try rig.drawer.drawIfRaised()
        #expect(Self.filling(rig) == [400, 500, 1000 + 2 * 600])
    }

    @Test func aRaiseBeforeTheFirstFrameOnlyPaints() throws {
        let rig = try OutputRig()
        rig.raise()
        try rig.drawer.drawIfRaised()
        #expect(rig.greys == [OutputRig.curtainGrey] && rig.packets.isEmpty)
        #expect(rig.output.epoch == rig.curtain.stamp.epoch)
    }

    /// A raise and a lower before the thread looked: viewers still get the curtain for the time that was taken back,
    /// and then the picture.
    @Test func anUnseenCurtainFillsItsGapToo() throws {
        let rig = try Self.raised()
        rig.lower()
        let end = try rig.drawer.fillUnseen(rig.curtain.stamp.epoch, upTo: .milliseconds(1000))
        #expect(end == .milliseconds(1000))
        #expect(Self.filling(rig) == [400, 500, 600, 700, 800])
        #expect(rig.greys == [100], "the client's picture is back")
    }

    @Test func aNewPainterPaintsACurtainThatIsUp() throws {
        let rig = try Self.raised()
        func use(_ grey: UInt8) {
            rig.drawer.use(
                CurtainPainter(.solid(CanvasColor(y: grey, u: 128, v: 128)), canvas: OutputRig.canvas))
            rig.drawer.takePainter()
        }
        try rig.drawer.drawIfRaised()
        use(60)
        #expect(rig.greys == [60] && rig.output.owesFrame)
        rig.lower()
        try rig.show(100, at: .milliseconds(1100))
        use(70)
        #expect(rig.greys == [100] && !rig.output.owesFrame, "a picture is shown")
    }
}
