import CaptureSources
import LinuxSystem
import MediaCore
import Testing

@Suite struct CommonStartTests {
    private static let origin = MediaTime.seconds(1_000)

    /// A file is there at once and a pipe 1.5 s later: the first sample of both has the same time.
    @Test func aPipeThatIsLateAndAFileBeginTogether() throws {
        let start = CommonStart(["video", "microphone"])
        let clock = ManualClock(Self.origin)
        let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)
        let first = Monitor<MediaTime?>(nil)
        let isWaiting = Monitor(false)
        let audio = try WorkerThread(name: "audio") {
            guard let tone = try? ToneInput(format: format, frequency: 440) else { return }
            let settings = FeedSettings(start: start, name: "microphone", duration: .milliseconds(100))
            let feed = AudioFeed(Announcing(tone, isWaiting), settings: settings, clock: clock)
            try? feed.run { _, pts in first.signal { $0 = $0 ?? pts } }
        }
        defer {
            start.cancel()
            audio.join()
        }
        _ = isWaiting.wait { $0 ? true : nil }
        #expect(start.time == nil)
        let due = Self.origin + .milliseconds(1500)
        #expect(start.arrived("video", at: due) == due)
        #expect(first.wait { $0 } == due)
    }

    /// Tells when it was first asked for samples.
    private final class Announcing: AudioInput {
        private let input: ToneInput
        private let asked: Monitor<Bool>
        var format: AudioFormat { input.format }
        var samples: [UInt8] { input.samples }
        var isFinite: Bool { false }

        init(_ input: ToneInput, _ asked: Monitor<Bool>) { (self.input, self.asked) = (input, asked) }

        func advance(frames: Int) -> Int {
            asked.signal { $0 = true }
            return input.advance(frames: frames)
        }
    }

    @Test func oneThatEndsWithoutASampleIsNotWaitedFor() {
        let start = CommonStart(["video", "microphone"])
        start.withdraw("microphone", at: Self.origin)
        #expect(start.time == nil)
        #expect(start.arrived("video", at: Self.origin + .seconds(1)) == Self.origin + .seconds(1))
        // Saying so again, at its end, changes nothing.
        start.withdraw("video", at: Self.origin + .seconds(9))
        #expect(start.time == Self.origin + .seconds(1))
    }

    @Test func oneThatNeverComesIsNotWaitedForLong() {
        let start = CommonStart(["video", "app audio", "microphone"])
        start.withdraw("app audio", at: Self.origin)
        #expect(start.expire(at: Self.origin + .seconds(10)) == ["microphone", "video"])
        #expect(start.time == Self.origin + .seconds(10))
        // When it comes after all, it begins then.
        #expect(start.arrived("video", at: Self.origin + .seconds(14)) == Self.origin + .seconds(14))
        #expect(start.expire(at: Self.origin + .seconds(20)).isEmpty && start.time == Self.origin + .seconds(10))
    }

    @Test func aStopWakesWhoeverWaits() throws {
        let start = CommonStart(["video", "microphone"])
        let result = Monitor<MediaTime??>(nil)
        let thread = try WorkerThread(name: "waits") {
            let time = start.arrived("video", at: Self.origin)
            result.signal { $0 = .some(time) }
        }
        start.cancel()
        thread.join()
        #expect(result.withLock { $0 } == .some(nil))
    }
}
