import CaptureSources
import MediaCore
import Testing

/// Promise: what is in sync in a stream is in sync on the clock, whatever becomes late.
@Suite struct TimedFeedTests {
    private static let start = MediaTime.seconds(1_000)
    /// Of `ManualClock.sinceEpoch` at `start`.
    private static let epoch = MediaTime.seconds(1_795_001_000)

    /// Samples of a list; reading each takes some time.
    private final class Listed: TimedInput {
        let video: VideoSampleFormat? = VideoSampleFormat(packed: .gray, width: 2, height: 2)
        let appAudio: AudioFormat? = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)
        let microphone: AudioFormat? = nil
        let samples: [UInt8] = []
        let cutShortBytes: Int? = nil
        private var left: [(sample: TimedSample, reading: MediaTime)]
        private let clock: ManualClock

        init(_ list: [(sample: TimedSample, reading: MediaTime)], _ clock: ManualClock) {
            left = list.reversed()
            self.clock = clock
        }

        func advance(into memory: VideoSource.Memory) -> TimedSample? {
            guard let next = left.popLast() else { return nil }
            clock.advance(next.reading)
            return next.sample
        }
    }

    private static func picture(_ time: MediaTime, isRestart: Bool = false) -> TimedSample {
        TimedSample(track: .video, time: time, duration: .zero, isRestart: isRestart)
    }
    private static func audio(_ time: MediaTime, isRestart: Bool = false) -> TimedSample {
        TimedSample(track: .appAudio, time: time, duration: .milliseconds(20), isRestart: isRestart)
    }

    private typealias Sent = (track: SampleTrack, pts: MediaTime, at: MediaTime)

    /// Times are relative to the start of the clock.
    private static func run(
        _ list: [(sample: TimedSample, reading: MediaTime)], isPaced: Bool = true, duration: MediaTime? = nil
    ) throws -> (sent: [Sent], leftOut: Int) {
        let clock = ManualClock(start)
        let settings = FeedSettings(
            start: CommonStart(["stream"]), name: "stream", isPaced: isPaced, duration: duration)
        let feed = TimedFeed(Listed(list, clock), schedule: .none, settings: settings, clock: clock)
        var (sent, leftOut): ([Sent], Int) = ([], 0)
        try feed.run(into: { _ in .init(start: nil, count: 0) }, leftOut: { leftOut += 1 }) { track, pts, _ in
            sent.append((track, pts - start, clock.now() - start))
        }
        return (sent, leftOut)
    }

    /// A file is read at once; its samples are sent when they are due.
    @Test func aFilesSamplesAreDue() throws {
        let (sent, leftOut) = try Self.run([
            (Self.audio(.milliseconds(5_000)), .zero), (Self.picture(.milliseconds(5_003)), .zero),
            (Self.audio(.milliseconds(5_020)), .zero), (Self.picture(.milliseconds(5_043)), .zero),
        ])
        #expect(sent.map(\.pts) == [0, 3, 20, 43].map { .milliseconds($0) })
        #expect(sent.map(\.at) == sent.map(\.pts) && leftOut == 0)
    }

    /// Pictures that follow a long packet are due before its last parts. The parts are sent at once, with their times.
    @Test func aLongPacketDoesNotHoldBackPictures() throws {
        let parts = (0..<30).map { MediaTime.milliseconds(Int64($0) * 50) }
        var list = [(sample: Self.picture(.zero), reading: MediaTime.zero)]
        for part in parts {
            var sample = Self.audio(.milliseconds(40) + part)
            sample.lead = part
            list.append((sample, .zero))
        }
        list.append((Self.picture(.milliseconds(550)), .zero))
        let (sent, leftOut) = try Self.run(list)
        let sound = sent.filter { $0.track == .appAudio }
        #expect(sound.map(\.pts) == parts.map { .milliseconds(40) + $0 } && leftOut == 0)
        // At most a second earlier.
        #expect(sound.map(\.at) == parts.map { .milliseconds(40) + max(.zero, $0 - .seconds(1)) })
        #expect(sent.last?.pts == .milliseconds(550) && sent.last?.at == .milliseconds(550))
    }

    /// The last parts of a long packet are read before pictures that are due before the end.
    @Test func theDurationEndsWithinALongPacket() throws {
        var list = [(sample: Self.picture(.zero), reading: MediaTime.zero)]
        for part in (0..<30).map({ MediaTime.milliseconds(Int64($0) * 50) }) {
            var sample = Self.audio(part)
            sample.lead = part
            list.append((sample, .zero))
        }
        list += [900, 1000, 1100].map { (Self.picture(.milliseconds($0)), .zero) }
        let (sent, _) = try Self.run(list, duration: .seconds(1))
        #expect(sent.filter { $0.track == .appAudio }.count == 20)
        #expect(sent.filter { $0.track == .video }.map(\.pts) == [0, 900].map { .milliseconds($0) })
    }

    @Test func withoutPacing() throws {
        let (sent, _) = try Self.run(
            [(Self.audio(.zero), .zero), (Self.picture(.milliseconds(40)), .zero)], isPaced: false)
        #expect(sent.map(\.pts) == [0, 40].map { .milliseconds($0) } && sent.map(\.at) == [.zero, .zero])
    }

    @Test func theDurationEndsBothTracks() throws {
        let list = (0..<200).map { (sample: Self.audio(.milliseconds(Int64($0) * 20)), reading: MediaTime.zero) }
        #expect(try Self.run(list, duration: .seconds(1)).sent.count == 50)
    }

    /// Samples that say when they were captured are sent with that time, and none waits.
    @Test func aLiveSourceIsNotHeldBack() throws {
        let latency = MediaTime.milliseconds(400)
        var list: [(sample: TimedSample, reading: MediaTime)] = [(Self.picture(Self.epoch - latency), .zero)]
        // The first one was late; the others come 30 ms after they were captured.
        list += (1...50).map { index in
            let time = Self.epoch + .milliseconds(Int64(index) * 20 - 30)
            return (Self.picture(time), .milliseconds(20))
        }
        let (sent, leftOut) = try Self.run(list)
        #expect(sent.count == 51 && leftOut == 0)
        #expect(sent[0].pts == .zero - latency)
        #expect(sent.dropFirst().allSatisfy { $0.at - $0.pts == .milliseconds(30) })
    }

    /// The clock of another machine says nothing about lateness.
    @Test(arguments: [MediaTime.seconds(3_600), .seconds(-3_600), .seconds(30)])
    func anotherMachinesClock(ahead: MediaTime) throws {
        let (sent, _) = try Self.run([
            (Self.picture(Self.epoch + ahead), .zero), (Self.picture(Self.epoch + ahead + .milliseconds(20)), .zero),
        ])
        #expect(sent.map(\.pts) == [0, 20].map { .milliseconds($0) })
    }

    /// A clock that is set leaves no gap, and goes back nowhere.
    @Test(arguments: [MediaTime.seconds(3_600), .seconds(-3_600), .milliseconds(700)])
    func aClockThatIsSet(by step: MediaTime) throws {
        var list: [(sample: TimedSample, reading: MediaTime)] = []
        for index in 0..<40 {
            let time = Self.epoch + .milliseconds(Int64(index) * 20) + (index < 20 ? .zero : step)
            list.append((Self.picture(time), .milliseconds(index > 0 ? 20 : 0)))
        }
        let (sent, leftOut) = try Self.run(list)
        #expect(sent.count == 40 && leftOut == 0)
        for pair in zip(sent, sent.dropFirst()) {
            let distance = pair.1.pts - pair.0.pts
            #expect(distance >= .zero && distance <= .milliseconds(40), "\(pair)")
        }
    }

    /// ffmpeg's times of a sound source that was just opened: too early, and then too fast until they are right.
    @Test func soundWaitsUntilItsTimesAreRight() throws {
        var list: [(sample: TimedSample, reading: MediaTime)] = [(Self.picture(Self.epoch), .zero)]
        for index in 0..<100 {
            let isEarly = MediaTime.milliseconds(max(0, 600 - Int64(index) * 20))
            list.append((Self.audio(Self.epoch + .milliseconds(Int64(index) * 20) - isEarly), .milliseconds(20)))
        }
        let (sent, _) = try Self.run(list)
        let sound = sent.filter { $0.track == .appAudio }
        // 600 ms until they are right, and half a second that shows it.
        #expect(sound.count == 100 - 30 - 24, "\(sound.count)")
        #expect(sound.allSatisfy { $0.at - $0.pts == .milliseconds(20) })
    }

    /// Times that never become right are better than silence.
    @Test func soundIsNotSilentForEver() throws {
        let list = (0..<400).map { index in
            (sample: Self.audio(Self.epoch + .milliseconds(Int64(index) * 33)), reading: MediaTime.milliseconds(20))
        }
        #expect(try Self.run(list).sent.count > 100)
    }

    /// What a stalled source has lost is not caught up by one track alone.
    @Test func aSourceThatStalls() throws {
        var list: [(sample: TimedSample, reading: MediaTime)] = []
        for index in 0..<200 {
            let time = MediaTime.milliseconds(Int64(index) * 20)
            let reading = index == 100 ? MediaTime.seconds(2) : index > 0 ? .milliseconds(20) : .zero
            list.append((index % 2 == 0 ? Self.audio(time) : Self.picture(time), reading))
        }
        let (sent, _) = try Self.run(list)
        let shifts = Set(sent.map { ($0.at - $0.pts).milliseconds })
        #expect(sent.count > 140 && sent.last.map { $0.at - $0.pts } == .zero, "\(shifts)")
        // Both tracks move at the same sample.
        let last = sent.suffix(60)
        #expect(last.allSatisfy { $0.at == $0.pts })
    }

    /// A picture that stays for some seconds is no step.
    @Test func aSlideShow() throws {
        let (sent, _) = try Self.run([
            (Self.picture(.zero), .zero), (Self.picture(.seconds(8)), .zero), (Self.picture(.seconds(16)), .zero),
        ])
        #expect(sent.map(\.pts) == [0, 8, 16].map { .seconds($0) })
    }

    /// A file that begins again follows its own end.
    @Test func aRestart() throws {
        let (sent, _) = try Self.run([
            (Self.picture(.seconds(3)), .zero), (Self.audio(.seconds(3)), .zero),
            (Self.picture(.milliseconds(3_040)), .zero), (Self.picture(.seconds(3), isRestart: true), .zero),
            (Self.audio(.seconds(3)), .zero), (Self.picture(.milliseconds(3_040)), .zero),
        ])
        #expect(sent.map(\.pts) == [0, 0, 40, 80, 80, 120].map { .milliseconds($0) })
    }

    @Test func nothingIsAnError() {
        #expect(throws: InputError("the input ends before its first sample")) { try Self.run([]) }
    }
}
