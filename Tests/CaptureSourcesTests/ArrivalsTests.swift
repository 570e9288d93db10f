import LinuxSystem
import MediaCore
import Testing

@testable import CaptureSources

/// Promise: from when its bytes arrive follows whether a pipe is live, and then when its first sample was captured.
@Suite struct ArrivalsTests {
    private static let start = MediaTime.seconds(100)
    /// 48 kHz stereo of 16 bits.
    private static let rate = 192_000.0
    private static let end = start + .milliseconds(700)

    /// A source that was opened at `start` and delivers `block` ms of sound at each of these times after it.
    private static func arrivals(_ block: Int, at times: [Int], after jitter: [Int] = [0]) -> Arrivals {
        var arrivals = Arrivals()
        for (index, time) in times.enumerated() {
            let late = jitter[index % jitter.count]
            arrivals.note(block * 192, at: start + .milliseconds(Int64(time + late)))
        }
        return arrivals
    }

    private static func origin(_ arrivals: Arrivals) -> MediaTime? {
        arrivals.origin(bytesPerSecond: rate, now: end).map { $0 - start }
    }

    /// Blocks of 20 ms, each at its end or up to 15 ms later.
    @Test func aLiveSource() {
        let arrivals = Self.arrivals(20, at: Array(stride(from: 20, through: 700, by: 20)), after: [15, 9, 0, 7])
        #expect(Self.origin(arrivals) == .zero)
    }

    /// Sound servers have blocks of up to 2 s.
    @Test func largeBlocks() {
        #expect(Self.origin(Self.arrivals(2000, at: [100])) == .milliseconds(-1900))
        #expect(Self.origin(Self.arrivals(500, at: [100, 600])) == .milliseconds(-400))
    }

    /// A picture has one time, and has arrived when its last byte has.
    @Test func pictures() {
        var arrivals = Arrivals()
        for frame in 0..<20 {
            for part in 0..<10 {
                let time = MediaTime.milliseconds(Int64(frame * 40 + part))
                arrivals.note(100, at: Self.start + time)
            }
        }
        let origin = arrivals.origin(bytesPerSecond: 25_000, unit: 1000, now: Self.start + .milliseconds(800))
        #expect(origin.map { ($0 - Self.start).milliseconds } == 9)
    }

    /// A decoder delivers three times as fast as time passes.
    @Test func aDecoder() {
        #expect(Self.origin(Self.arrivals(60, at: Array(stride(from: 0, through: 700, by: 20)))) == nil)
    }

    /// A source that fills the buffer at once, or that ends, waits for us.
    @Test func aSourceThatIsAhead() {
        var arrivals = Self.arrivals(5000, at: [0])
        #expect(Self.origin(arrivals) != nil)
        arrivals.noteAhead()
        #expect(Self.origin(arrivals) == nil)
    }

    @Test func nothing() { #expect(Self.origin(Arrivals()) == nil) }

    /// Hours of a pipe take no more memory than its first seconds.
    @Test func manyArrivals() {
        var arrivals = Arrivals()
        for index in 0..<100_000 { arrivals.note(1920, at: Self.start + .milliseconds(Int64(index) * 10)) }
        #expect(MemoryLayout<Arrivals>.size < 64)
        #expect(arrivals.origin(bytesPerSecond: 192_000, now: Self.start + .seconds(1_000)) != nil)
    }
}

/// Promise: several live pipes have the times of their arrival, and anything else begins together.
@Suite struct LiveStartTests {
    private static let start = MediaTime.seconds(1_000)

    /// What two feeds of audio send, each on its own thread, as times after `start`.
    private static func run(_ origins: [String: MediaTime?]) throws -> [String: [MediaTime]] {
        let live = LiveStart(Set(origins.keys))
        let common = CommonStart(Set(origins.keys))
        let sent = Monitor([String: [MediaTime]]())
        let threads = try origins.map { name, origin in
            try WorkerThread(name: "feed") {
                let clock = ManualClock(start)
                var settings = FeedSettings(start: common, name: name)
                settings.live = LivePipe(live) { _ in origin }
                let format = AudioFormat(sampleRate: 8000, channels: 1, encoding: .int16)
                guard let input = try? ToneInput(format: format, frequency: 100) else { return }
                settings.duration = .milliseconds(700)
                try? AudioFeed(input, settings: settings, clock: clock).run { _, pts in
                    sent.withLock { $0[name, default: []].append(pts - start) }
                }
            }
        }
        for thread in threads { thread.join() }
        return sent.withLock { $0 }
    }

    /// The first began 1 s and the second 10 ms before both were there.
    @Test func livePipes() throws {
        let sent = try Self.run(["a": Self.start - .seconds(1), "b": Self.start - .milliseconds(10)])
        // Nothing is sent from before the end of the observation.
        #expect(sent["a"]?.first == .milliseconds(500) && sent["b"]?.first == .milliseconds(510))
        #expect(sent["a"]?.last == .milliseconds(680))
    }

    /// Ten seconds of a live track, of which the run with a number arrives so much later than it was captured.
    private static func follow(_ lateness: @escaping @Sendable (Int64) -> MediaTime) throws -> [MediaTime] {
        let run = Monitor(Int64(-1))
        let clock = ManualClock(start)
        var settings = FeedSettings(start: CommonStart(["a"]), name: "a")
        settings.duration = .seconds(10)
        settings.live = LivePipe(
            LiveStart(["a"]), origin: { _ in start },
            captured: {
                let end = run.withLock { run in
                    run += 1
                    return run + 1
                }
                return start + .milliseconds(end * 20) + lateness(end - 1)
            })
        let format = AudioFormat(sampleRate: 8000, channels: 1, encoding: .int16)
        var sent: [MediaTime] = []
        try AudioFeed(try ToneInput(format: format, frequency: 100), settings: settings, clock: clock).run { _, pts in
            sent.append(pts - start)
        }
        return sent
    }

    /// After 5 s, the source loses 320 ms: what follows has the times of its arrival, within two seconds.
    @Test func aLiveSourceThatLosesSamples() throws {
        let sent = try Self.follow { $0 < 250 ? .zero : .milliseconds(320) }
        #expect(sent.first == .milliseconds(500))
        #expect(sent.contains(.milliseconds(4980)) && sent.contains(.milliseconds(5000)))
        #expect(sent.last == .milliseconds(9980))
        #expect(zip(sent, sent.dropFirst()).filter { $1 - $0 != .milliseconds(20) }.count == 1)
        #expect(zip(sent, sent.dropFirst()).contains { $1 - $0 == .milliseconds(340) })
    }

    @Test func aLiveSourceWhoseArrivalsTellNothing() {
        let error = #expect(throws: InputError.self) {
            try Self.follow { $0 / 25 % 2 == 0 ? .zero : .milliseconds(400) }
        }
        #expect(error?.description.contains("the times of a are not known") == true, "\(String(describing: error))")
        #expect(error?.description.contains("differ by 400 ms") == true)
    }

    @Test func oneThatIsNotLive() throws {
        let sent = try Self.run(["a": Self.start - .seconds(1), "b": MediaTime?.none])
        #expect(sent["a"]?.first == .zero && sent["b"]?.first == .zero)
    }

    /// A pipe that does not come holds nobody up.
    @Test func oneThatIsMissing() {
        let live = LiveStart(["a", "b"])
        #expect(!live.areLive)
        live.withdraw("b")
        #expect(live.agree("a", isLive: true) == true && live.areLive)
        let ended = LiveStart(["a", "b"])
        ended.cancel()
        #expect(ended.agree("a", isLive: true) == nil)
    }
}
