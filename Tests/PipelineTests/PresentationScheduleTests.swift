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

/// A client whose frames come late. Repeats of its last picture must not overtake frames that are on their way, because
/// these would then be squeezed together. The real video thread runs with a clock that only this test advances.
@Suite struct PresentationScheduleTests {
    private struct Frame {
        let pts: Int64
        let arrival: Int64
    }

    private struct Shown {
        let pts: MediaTime
        let isRepeat: Bool
    }

    /// Time passes while the video thread waits, and 5 ms with each packet.
    private final class Rig: PacketSink, @unchecked Sendable /* one thread */ {
        private static let start = MediaTime.seconds(1000)
        private static let canvas = CanvasFormat(width: 64, height: 36, frameRate: FrameRate(30))
        private var time = start
        private var rest: ArraySlice<Frame>
        private let curtain = Curtain()
        private let standing = StandingRegions()
        private let background = Picture(width: canvas.width, height: canvas.height)
        private lazy var slot = FrameSlot<VideoFrameTag>(shown: background, others: 2, clock: RigClock(rig: self))
        private(set) var shown: [Shown] = []

        /// - Parameter frames: in milliseconds, in the order of arrival.
        init(_ frames: [Frame]) { rest = frames[...] }

        func now() -> MediaTime { time }

        func write(_ info: PacketInfo, payload: RawSpan) {
            shown.append(Shown(pts: info.pts, isRepeat: info.arrival == .zero))
            time += .milliseconds(5)
        }

        func run() throws {
            let source = RigClock(rig: self)
            let clock = BroadcastClock(source)
            clock.publish(offset: Self.start)
            let canvas = Self.canvas
            let settings = VideoEncoderSettings(canvas: canvas, bitrate: 500_000)
            let encoder = RunningEncoder(
                try VideoEncoder(settings), settings: settings, effort: nil, sink: self, clock: source,
                adapt: { _ in nil }, onEffort: { _ in })
            let black = CanvasColor.black(canvas.color.range)
            let worker = VideoWorker(
                slot: slot, encoder: encoder,
                shown: ShownPicture(
                    background, slot: slot, painter: CurtainPainter(.solid(black), canvas: canvas),
                    standing: standing, secureColor: black),
                clock: clock, counters: BroadcastCounters(),
                snapshots: SnapshotBooth(canvas, size: 0, clock: source), curtain: curtain,
                schedule: PresentationSchedule(canvas.frameRate, idleInterval: .milliseconds(250)),
                takenBack: { _ in nil }, onFailure: { Issue.record("\($0)") })
            worker.run()
        }

        /// Goes on to the next frame's arrival, or to the deadline.
        func wait(on condition: WaitCondition, until deadline: MediaTime) -> Bool {
            condition.unlock()
            defer { condition.lock() }
            guard let next = rest.first else {
                slot.close()
                return true
            }
            if arrival(next) > max(deadline, time) {
                time = max(deadline, time)
                return false
            }
            time = max(time, arrival(next))
            while let next = rest.first, arrival(next) <= time { offer(rest.removeFirst(), at: arrival(next)) }
            return true
        }

        private func arrival(_ frame: Frame) -> MediaTime { Self.start + .milliseconds(frame.arrival) }

        private func offer(_ frame: Frame, at arrival: MediaTime) {
            guard let picture = slot.acquire() else {
                Issue.record("no picture to fill")
                return
            }
            let source = VideoSampleFormat(packed: .gray, width: Self.canvas.width, height: Self.canvas.height)
            slot.offer(
                picture,
                VideoFrameTag(
                    time: .milliseconds(frame.pts), arrival: arrival, stamp: curtain.stamp,
                    plan: GeometryPlan(source: source, transform: .identity, canvas: Self.canvas, fit: .fit),
                    regions: standing.version))
        }
    }

    /// Does not keep the rig, which keeps what waits by it.
    private struct RigClock: TimeSource {
        unowned let rig: Rig
        func now() -> MediaTime { rig.now() }
        func wait(on condition: WaitCondition, until deadline: MediaTime) -> Bool {
            rig.wait(on: condition, until: deadline)
        }
    }

    /// Runs frames through the video thread at 30 frames a second, with repeats after 250 ms.
    private func show(_ frames: [Frame]) throws -> [Shown] {
        let rig = Rig(frames)
        try rig.run()
        return rig.shown
    }

    /// 30 frames a second for ten seconds, each delayed by `lateness`.
    private func frames(_ lateness: (Int64) -> Int64) -> [Frame] {
        (0..<300).map { Frame(pts: $0 * 100 / 3, arrival: $0 * 100 / 3 + lateness($0)) }
    }

    /// A frame may directly follow a repeat. Two frames keep their distance.
    private func expectNoSqueezing(_ shown: [Shown], frames expected: Int) {
        func leastStep(_ shown: [Shown]) -> MediaTime {
            zip(shown, shown.dropFirst()).map { $1.pts - $0.pts }.min() ?? .zero
        }
        let frames = shown.filter { !$0.isRepeat }
        #expect(leastStep(frames) >= .milliseconds(10), "\(shown.map(\.pts.milliseconds))")
        #expect(leastStep(shown) >= .milliseconds(1), "\(shown.map(\.pts.milliseconds))")
        #expect(frames.count >= expected, "\(frames.count) of 300 frames shown")
    }

    /// A still screen that begins to move just after a repeat: neither the first frame nor those after it wait.
    @Test(arguments: [1, 5, 30]) func framesAfterARepeat(distance: Int64) {
        var schedule = PresentationSchedule(FrameRate(30), idleInterval: .milliseconds(250))
        let start = MediaTime.seconds(7)
        _ = schedule.encode(.zero, at: start)
        _ = schedule.encode(.milliseconds(250), at: start + .milliseconds(250), isRepeat: true)
        for frame in 0..<10 {
            let time = MediaTime.milliseconds(250 + distance + Int64(frame) * 100 / 3)
            #expect(schedule.decide(time) == .due)
            #expect(schedule.encode(time, at: start + time) == time)
            #expect(schedule.decide(time + .milliseconds(5)) != .due)
        }
    }

    /// Repeats that are almost as frequent as frames count, so that both together keep the frame rate.
    @Test(arguments: [(20, false), (40, false), (67, true), (250, true)])
    func frequentRepeats(interval: Int64, isDue: Bool) {
        let interval = MediaTime.milliseconds(interval)
        var schedule = PresentationSchedule(FrameRate(30), idleInterval: interval)
        let start = MediaTime.seconds(7)
        _ = schedule.encode(.zero, at: start)
        _ = schedule.encode(interval, at: start + interval, isRepeat: true)
        #expect((schedule.decide(interval + .milliseconds(5)) == .due) == isDue)
    }

    /// Several frames may be late. The first one would be squeezed behind the repeat, and would show something old for
    /// one millisecond.
    @Test(arguments: [1, 100, 250]) func framesThatARepeatHasOvertaken(time: Int64) {
        var schedule = PresentationSchedule(FrameRate(30), idleInterval: .milliseconds(250))
        let start = MediaTime.seconds(7)
        _ = schedule.encode(.zero, at: start)
        _ = schedule.encode(.milliseconds(250), at: start + .milliseconds(250), isRepeat: true)
        #expect(schedule.decide(.milliseconds(time)) != .due)
    }

    /// Bug: if a keyframe was due and its frame a little late, the previous picture was encoded as a keyframe instead.
    @Test(arguments: [0, 3, 30, 120]) func framesThatKeepComingAreNotRepeated(jitter: Int64) throws {
        let shown = try show(frames { $0 % 3 * jitter / 2 })
        #expect(shown.count { $0.isRepeat } == 0)
        expectNoSqueezing(shown, frames: jitter > 33 ? 100 : 299)
    }

    /// After a hiccup, all frames are late until the timeline's latency filter adapts.
    @Test(arguments: [300, 450, 900]) func framesThatStayLate(lateness: Int64) throws {
        let shown = try show(frames { $0 < 60 ? 0 : lateness })
        // Only the frames that the repeats of the hiccup replaced are left out.
        expectNoSqueezing(shown, frames: 300 - Int(lateness * 30 / 1000) - 2)
        #expect(shown.contains { $0.isRepeat }, "no hiccup")
        #expect(shown.count { $0.isRepeat } <= Int(lateness / 250))
    }

    /// A client that stops for a while and then sends all kept frames, at once or one every two milliseconds.
    @Test(arguments: [300, 450, 900], [0, 2]) func framesThatComeInABurst(stop: Int64, spacing: Int64) throws {
        let resumes = 60 * 100 / 3 + stop
        let shown = try show(
            frames { index in index < 60 ? 0 : max(0, resumes + (index - 60) * spacing - index * 100 / 3) })
        expectNoSqueezing(shown, frames: 300 - Int(stop * 30 / 1000) - 2)
    }

    /// Every second one frame is 450 ms late, and the following frames catch up.
    @Test func framesWithHiccupsOverAndOver() throws {
        expectNoSqueezing(try show(frames { index in max(0, 450 - index % 30 * 30) }), frames: 150)
    }

    /// Bug: the background that opens a stream without pictures had time zero, and came half a second late. All its
    /// repeats were as late.
    @Test func theBackgroundThatOpensTheStreamIsRepeatedOnTheClock() {
        var schedule = PresentationSchedule(FrameRate(30), idleInterval: .milliseconds(250))
        let start = MediaTime.seconds(7)
        #expect(schedule.encode(.zero, at: start) == .zero)
        schedule.catchUp(to: .milliseconds(500), at: start)
        let next = schedule.repeatTime(at: start + .milliseconds(100))
        #expect(next == .milliseconds(600))
        #expect(schedule.encode(.milliseconds(600), at: start + .milliseconds(100)) == .milliseconds(600))
        #expect(schedule.repeatTime(at: start + .milliseconds(200)) == .milliseconds(700))
    }

    /// A still screen: repeats are a quarter of a second apart, on the clock.
    @Test func repeatsKeepTheClock() throws {
        let shown = try show([Frame(pts: 0, arrival: 40), Frame(pts: 2000, arrival: 2040)])
        // 40 ms late, like the frame. The picture at two seconds comes before the repeat that would be due then.
        #expect(shown.map(\.pts.milliseconds) == [0, 250, 500, 750, 1000, 1250, 1500, 1750, 2000])
        #expect(shown.map(\.isRepeat) == [false] + Array(repeating: true, count: 7) + [false])
    }
}
