import MediaCore
import Testing

@testable import Pipeline

/// A client whose frames come late: repeats of its last picture must not get in front of frames that are on their way,
/// for these would then be squeezed together right behind them.
@Suite struct PresentationScheduleTests {
    private struct Frame {
        let pts: Int64
        let arrival: Int64
    }

    private struct Shown {
        let pts: MediaTime
        let isRepeat: Bool
    }

    /// Runs frames (milliseconds) through a schedule as the video thread does, at 30 frames a second, with repeats
    /// after 250 ms and 5 ms to encode one.
    private func show(_ frames: [Frame]) -> [Shown] {
        var schedule = PresentationSchedule(FrameRate(30), idleInterval: .milliseconds(250))
        var shown: [Shown] = []
        var now = MediaTime.zero
        var rest = frames[...]
        /// The newest frame that has come by `deadline`, once there is one: what `FrameSlot.take` does.
        func take(until deadline: MediaTime) -> (time: MediaTime, arrival: MediaTime)? {
            guard let next = rest.first, .milliseconds(next.arrival) <= max(deadline, now) else {
                now = max(deadline, now)
                return nil
            }
            now = max(now, .milliseconds(next.arrival))
            let newest = rest.prefix { .milliseconds($0.arrival) <= now }.last!
            rest = rest.drop { .milliseconds($0.arrival) <= now }
            return (.milliseconds(newest.pts), .milliseconds(newest.arrival))
        }
        while !rest.isEmpty {
            if var frame = take(until: schedule.deadline(after: schedule.idleInterval) ?? .seconds(3600)) {
                while case .hold(let wait) = schedule.decide(frame.time), let newer = take(until: frame.arrival + wait)
                {
                    frame = newer
                }
                shown.append(Shown(pts: schedule.encode(frame.time, at: now), isRepeat: false))
            } else if let time = schedule.repeatTime(at: now) {
                shown.append(Shown(pts: schedule.encode(time, at: now), isRepeat: true))
            }
            now += .milliseconds(5)
        }
        return shown
    }

    /// 30 frames a second for ten seconds, each as late as `lateness` says.
    private func frames(_ lateness: (Int64) -> Int64) -> [Frame] {
        (0..<300).map { Frame(pts: $0 * 100 / 3, arrival: $0 * 100 / 3 + lateness($0)) }
    }

    private func expectNoSqueezing(_ shown: [Shown], frames expected: Int) {
        let steps = zip(shown, shown.dropFirst()).map { $1.pts - $0.pts }
        #expect((steps.min() ?? .zero) >= .milliseconds(10), "\(shown.map(\.pts.milliseconds))")
        let count = shown.count { !$0.isRepeat }
        #expect(count >= expected, "\(count) of 300 frames shown")
    }

    /// After a hiccup all that follows is late, until the timeline's latency filter takes note.
    @Test(arguments: [300, 450, 900]) func framesThatStayLate(lateness: Int64) {
        let shown = show(frames { $0 < 60 ? 0 : lateness })
        // What the repeats of the hiccup have taken the place of is left out, and no more than that.
        expectNoSqueezing(shown, frames: 300 - Int(lateness * 30 / 1000) - 2)
        #expect(shown.contains { $0.isRepeat }, "no hiccup")
        #expect(shown.count { $0.isRepeat } <= Int(lateness / 250))
    }

    /// A client that stops for a while and then sends all that it has kept, at once or a frame every two milliseconds.
    @Test(arguments: [300, 450, 900], [0, 2]) func framesThatComeInABurst(stop: Int64, spacing: Int64) {
        let resumes = 60 * 100 / 3 + stop
        let shown = show(
            frames { index in index < 60 ? 0 : max(0, resumes + (index - 60) * spacing - index * 100 / 3) })
        expectNoSqueezing(shown, frames: 300 - Int(stop * 30 / 1000) - 2)
    }

    /// Every second one frame comes 450 ms late, and those behind it close upon it.
    @Test func framesWithHiccupsOverAndOver() {
        expectNoSqueezing(show(frames { index in max(0, 450 - index % 30 * 30) }), frames: 150)
    }

    /// Bug: the background that opens a stream without pictures was for zero, and half a second late; so was all that
    /// repeated it.
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

    /// A screen that stands still: repeats a quarter of a second apart, on the clock.
    @Test func repeatsKeepTheClock() {
        let shown = show([Frame(pts: 0, arrival: 40), Frame(pts: 2000, arrival: 2040)])
        // 40 ms late, like the frame; the picture of two seconds comes before the repeat that would be due then.
        #expect(shown.map(\.pts.milliseconds) == [0, 250, 500, 750, 1000, 1250, 1500, 1750, 2000])
        #expect(shown.map(\.isRepeat) == [false] + Array(repeating: true, count: 7) + [false])
    }
}
