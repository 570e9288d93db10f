import CaptureSources
import Glibc
import MediaCore
import TestSupport
import Testing

@Suite struct FeedTests {
    private static let origin = MediaTime.seconds(1_000)

    /// A track that waits for no other.
    private static func alone(isPaced: Bool = true, duration: MediaTime? = nil) -> FeedSettings {
        FeedSettings(start: CommonStart(["video"]), name: "video", isPaced: isPaced, duration: duration)
    }

    /// Frames of 16x16 grey; counts what it was asked for.
    private final class Counting: VideoSource {
        let rate: FrameRate
        let isFinite = true
        let frames: Int64
        let onAdvance: (Int64) -> Void

        init(_ rate: FrameRate, frames: Int64, onAdvance: @escaping (Int64) -> Void = { _ in }) {
            self.rate = rate
            self.frames = frames
            self.onAdvance = onAdvance
        }

        func advance(
            frame: Int64, time: MediaTime, orientation: OrientationTag?, into memory: Memory
        ) -> Bool {
            onAdvance(frame)
            return frame < frames
        }
    }

    /// The source writes nothing.
    private static func noMemory(_ format: VideoSampleFormat) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    private func run(
        _ source: Counting, _ clock: ManualClock, schedule: OrientationSchedule = .none,
        settings: FeedSettings = alone(), sending: MediaTime = .zero,
        leftOut: () -> Void = {}
    ) throws -> [(pts: MediaTime, sentAt: MediaTime, tag: OrientationTag?)] {
        var sent: [(pts: MediaTime, sentAt: MediaTime, tag: OrientationTag?)] = []
        let feed = VideoFeed(source, schedule: schedule, settings: settings, clock: clock)
        try feed.run(into: Self.noMemory, leftOut: leftOut) { pts, tag in
            sent.append((pts, clock.now(), tag))
            clock.advance(sending)
        }
        return sent
    }

    /// A video without a frame is a mistake, which no exit status may hide.
    @Test func nothingIsAnError() throws {
        #expect(throws: InputError("the video has no frame: its input is empty")) {
            try run(Counting(FrameRate(30), frames: 0), ManualClock(Self.origin))
        }
        let reader = InputReader(MemoryInput([1, 2, 3]))
        let raw = RawVideo(
            reader, format: VideoSampleFormat(packed: .gray, width: 16, height: 16), rate: FrameRate(30))
        let feed = VideoFeed(raw, schedule: .none, settings: Self.alone(), clock: ManualClock(Self.origin))
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 1)
        defer { memory.deallocate() }
        let error = #expect(throws: InputError.self) { try feed.run(into: { _ in memory }) { _, _ in } }
        #expect(error?.description.contains("ends after 3 bytes") == true)
    }

    /// Each deadline is counted from the first frame: after an hour of 29.97 frames a second nothing has drifted,
    /// though each send takes its time.
    @Test func anHourDoesNotDrift() throws {
        let rate = FrameRate(30_000, 1001)
        let clock = ManualClock(Self.origin)
        let sent = try run(Counting(rate, frames: 107_892), clock, sending: .milliseconds(20))
        #expect(sent.count == 107_892)
        for index in stride(from: 0, to: sent.count, by: 1009) {
            let due = Self.origin.nanoseconds + Int64(index) * 1_001_000_000_000 / 30_000
            #expect(sent[index].pts.nanoseconds == due && sent[index].sentAt.nanoseconds == due)
        }
    }

    /// One send takes a second: the frames behind it go out at once until the feed has caught up, with their own
    /// times.
    @Test func lateFramesCatchUp() throws {
        let clock = ManualClock(Self.origin)
        var count = 0
        var sent: [(MediaTime, MediaTime)] = []
        let feed = VideoFeed(
            Counting(FrameRate(10), frames: 30), schedule: .none, settings: Self.alone(), clock: clock)
        try feed.run(into: Self.noMemory) { pts, _ in
            sent.append((pts, clock.now()))
            if count == 5 { clock.advance(.seconds(1)) }
            count += 1
        }
        #expect(sent[6...14].allSatisfy { $0.1 == Self.origin + .milliseconds(1500) })
        #expect(sent[16...].allSatisfy { $0.1 == $0.0 })
        #expect(sent.indices.allSatisfy { sent[$0].0 == Self.origin + .milliseconds(100) * Int64($0) })
    }

    @Test func aPipeBeginsWhenItsFirstFrameComes() throws {
        let clock = ManualClock(Self.origin)
        let live = Counting(FrameRate(10), frames: 3) { if $0 == 0 { clock.advance(.seconds(2)) } }
        #expect(try run(live, clock).map(\.pts) == [2000, 2100, 2200].map { Self.origin + .milliseconds($0) })
    }

    /// A writer that is held up and then makes up for it by a burst: what is very late is left out, and then all is as
    /// if nothing had been.
    @Test func aBurstCatchesUp() throws {
        let clock = ManualClock(Self.origin)
        var leftOut = 0
        // After frame 9 nothing for 3 s, then everything that was due at once.
        let live = Counting(FrameRate(10), frames: 60) { if $0 == 10 { clock.advance(.seconds(3)) } }
        let sent = try run(live, clock, leftOut: { leftOut += 1 })
        #expect(leftOut == 19 && sent.count == 41)
        #expect(sent.allSatisfy { ($0.pts - Self.origin).nanoseconds % 100_000_000 == 0 })
        #expect(sent.last?.pts == Self.origin + .milliseconds(5900) && sent.last?.sentAt == sent.last?.pts)
    }

    /// A writer that is held up and goes on at its own rate has lost the time: its frames move up to the clock.
    @Test func aLastingDelayIsMadeUpFor() throws {
        let clock = ManualClock(Self.origin)
        var leftOut = 0
        var next = Self.origin
        let live = Counting(FrameRate(10), frames: 100) { frame in
            if frame == 10 { next += .seconds(3) }
            _ = clock.wait(until: next)
            next += .milliseconds(100)
        }
        let sent = try run(live, clock, leftOut: { leftOut += 1 })
        #expect(leftOut == 5 && sent.count == 95)
        #expect(sent[10...].allSatisfy { $0.pts == $0.sentAt })
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $0.pts < $1.pts })
    }

    /// A grabber that gives two thirds of the frames that it promised must not fall behind for ever.
    @Test func aSlowPipeStaysNearTheClock() throws {
        let clock = ManualClock(Self.origin)
        let live = Counting(FrameRate(30), frames: 1200) { _ in clock.advance(.milliseconds(50)) }
        let sent = try run(live, clock)
        #expect(sent.count == 1200)
        #expect(sent.allSatisfy { $0.sentAt - $0.pts < .milliseconds(800) })
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $0.pts < $1.pts })
    }

    /// A daemon that takes more than twice the time that there is: nobody waited for the source, so its times stay what
    /// they are, in step with the other tracks, and what would be too late is left out.
    @Test func slowSendingMovesNothing() throws {
        let clock = ManualClock(Self.origin)
        var leftOut = 0
        let source = Counting(FrameRate(10), frames: 200)
        let sent = try run(source, clock, sending: .milliseconds(230), leftOut: { leftOut += 1 })
        #expect(sent.count + leftOut == 200 && sent.count > 75)
        #expect(sent.allSatisfy { ($0.pts - Self.origin).nanoseconds % 100_000_000 == 0 })
        #expect(sent.allSatisfy { $0.sentAt - $0.pts <= .seconds(1) })
    }

    @Test func withoutPaceNobodyWaits() throws {
        let clock = ManualClock(Self.origin)
        let settings = Self.alone(isPaced: false)
        let sent = try run(Counting(FrameRate(10), frames: 50), clock, settings: settings)
        #expect(sent.count == 50 && sent.allSatisfy { $0.sentAt == Self.origin })
        #expect(sent.last?.pts == Self.origin + .milliseconds(4900))
    }

    /// The frame that would begin at the end does not belong to the broadcast, and a pattern does not draw it.
    @Test func durationEndsTheFeed() throws {
        let settings = Self.alone(duration: .seconds(2))
        var asked: Int64 = -1
        let source = Counting(FrameRate(10), frames: .max) { asked = $0 }
        let sent = try run(source, ManualClock(Self.origin), settings: settings)
        #expect(sent.count == 20 && asked == 19)
    }

    @Test func stopEndsTheFeed() throws {
        let clock = ManualClock(Self.origin, stopAt: Self.origin + .milliseconds(450))
        #expect(try run(Counting(FrameRate(10), frames: .max), clock).count == 5)
    }

    @Test func theScheduleTurnsTheDevice() throws {
        let schedule = OrientationSchedule.cycle(OrientationSchedule.turns, period: .milliseconds(250))
        let sent = try run(Counting(FrameRate(10), frames: 12), ManualClock(Self.origin), schedule: schedule)
        let tags: [OrientationTag] = [.up, .up, .up, .left, .left, .down, .down, .down, .right, .right, .up, .up]
        #expect(sent.map(\.tag) == tags)
    }

    @Test(arguments: [44_100, 48_000, 8_000, 11_025])
    func audioRunsFollowEachOther(rate: Int) throws {
        let clock = ManualClock(Self.origin)
        let tone = try ToneInput(format: AudioFormat(sampleRate: rate, channels: 1, encoding: .int16), frequency: 440)
        var (frames, count) = (Int64(0), 0)
        let settings = Self.alone(duration: .seconds(20))
        try AudioFeed(tone, settings: settings, clock: clock).run { input, pts in
            #expect(pts == Self.origin + MediaTime(sample: frames, rate: rate) && clock.now() == pts)
            frames += Int64(input.samples.count / 2)
            count += 1
        }
        // Runs of 20 ms, rounded down to whole frames.
        #expect(count == (20 * rate + rate / 50 - 1) / (rate / 50))
    }

    @Test func stoppedReadersWakeUp() throws {
        let stop = try StopSignal()
        #expect(stop.wait(until: stop.now()))
        stop.stop()
        #expect(!stop.wait(until: stop.now() + .seconds(100)) && stop.isStopped)
        // A pipe that nobody writes to can be opened, and only the stop ends the read.
        let folder = try TemporaryDirectory("feed")
        let path = folder.file("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        let input = try FileInput(path: path, stop: stop)
        #expect(try InputReader(input).peek(1).isEmpty && input.isLive)
    }
}
