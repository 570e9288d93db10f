import Buffering
import Encoding
import FrameGeometry
import LinuxSystem
import MediaCore
import Painting
import Privacy
import TestSupport
import Testing

@testable import Pipeline

/// The last steps of the video thread, with the real encoder and a clock that only the test and the packets turn.
final class OutputRig: @unchecked Sendable /* one thread */ {
    /// The encoder keeps its sink, which must not keep the rig.
    private final class Sink: PacketSink, @unchecked Sendable /* one thread */ {
        private weak var rig: OutputRig?

        init(rig: OutputRig) { self.rig = rig }

        func write(_ info: PacketInfo, payload: RawSpan) { rig?.note(info) }
    }

    static let canvas = CanvasFormat(width: 64, height: 36, frameRate: FrameRate(30))
    /// The greys of the curtain, a region and the background.
    static let curtainGrey: UInt8 = 200, regionGrey: UInt8 = 60, backgroundGrey: UInt8 = 16

    let time = ManualClock(.seconds(1000))
    let clock: BroadcastClock
    let curtain = Curtain()
    let standing = StandingRegions()
    let counters = BroadcastCounters()
    let snapshots: SnapshotBooth
    let slot: FrameSlot<VideoFrameTag>
    private(set) var packets: [PacketInfo] = []
    /// What the encoder takes for each packet, by the clock.
    var encodingTime = MediaTime.zero
    /// Called after each packet.
    var onPacket: () -> Void = {}
    /// What was taken back by the last raise, and the epochs that were asked for.
    var takenBack: TakenBack? = TakenBack()
    private(set) var asked: [CurtainEpoch] = []
    var isEnding = false
    private(set) var output: VideoOutput!
    private(set) var drawer: CurtainDrawer!

    init() throws {
        let canvas = Self.canvas
        clock = BroadcastClock(time)
        clock.publish(offset: time.now())
        snapshots = SnapshotBooth(canvas, size: 64, clock: time, encode: { _ in [1] })
        let background = Picture(width: canvas.width, height: canvas.height)
        Self.fill(background, Self.backgroundGrey)
        slot = FrameSlot(shown: background, others: 2, clock: time)
        var settings = VideoEncoderSettings(canvas: canvas, bitrate: 500_000)
        settings.preset = "ultrafast"
        let encoder = RunningEncoder(
            try VideoEncoder(settings), settings: settings, effort: nil, sink: Sink(rig: self), clock: time,
            adapt: { _ in nil }, onEffort: { _ in })
        func grey(_ value: UInt8) -> CanvasColor { CanvasColor(y: value, u: 128, v: 128) }
        output = VideoOutput(
            ShownPicture(
                background, slot: slot, painter: CurtainPainter(.solid(grey(Self.curtainGrey)), canvas: canvas),
                standing: standing, secureColor: grey(Self.regionGrey)),
            PresentationSchedule(canvas.frameRate, idleInterval: .seconds(1)), encoder, clock: clock,
            snapshots: snapshots, epoch: curtain.stamp.epoch, superseded: { 0 })
        drawer = CurtainDrawer(
            output, curtain, clock: clock, counters: counters, work: WorkMark("test"),
            isEnding: { [unowned self] in isEnding },
            takenBack: { [unowned self] epoch in
                asked.append(epoch)
                return takenBack
            })
    }

    private func note(_ info: PacketInfo) {
        packets.append(info)
        time.advance(by: encodingTime)
        onPacket()
    }

    /// Shows a client's picture of one grey, and encodes it.
    func show(_ grey: UInt8, at pts: MediaTime) throws {
        let picture = try #require(slot.acquire())
        Self.fill(picture, grey)
        let source = VideoSampleFormat(packed: .gray, width: Self.canvas.width, height: Self.canvas.height)
        let plan = GeometryPlan(source: source, transform: .identity, canvas: Self.canvas, fit: .fit)
        output.shown.show(
            picture,
            VideoFrameTag(time: pts, arrival: time.now(), stamp: curtain.stamp, plan: plan, regions: standing.version))
        output.shown.reveal()
        try output.encode(pts, arrival: time.now())
    }

    private static let holder = PrivacyHolder(.app, "kiosk")
    func raise() { _ = curtain.raise(Self.holder, reason: "test", at: time.now()) }
    func lower() { _ = curtain.lower(Self.holder) }

    /// The greys of the shown picture.
    var greys: Set<UInt8> {
        let planes = output.shown.picture.planes
        return Set(
            (0..<Self.canvas.height).flatMap { row in
                (0..<Self.canvas.width).map { planes.y[row * planes.yStride + $0] }
            })
    }

    var milliseconds: [Int64] { packets.map(\.pts.milliseconds) }

    private static func fill(_ picture: Picture, _ value: UInt8) {
        let planes = picture.planes
        for row in 0..<picture.height {
            for column in 0..<picture.width { planes.y[row * planes.yStride + column] = value }
        }
    }
}
