import MediaCore
import Testing

@testable import AudioMixing

@Suite struct LatencyTests {
    @Test func growsToTheNeedAndShrinksSlowly() {
        var latency = MixingLatency(minimum: .milliseconds(60), maximum: .milliseconds(750))
        latency.advance(to: .zero)
        latency.observe(need: .milliseconds(40), duration: .milliseconds(20))
        #expect(latency.current == .milliseconds(60))
        // With less than the reserve to spare it grows before anything is lost.
        latency.observe(need: .milliseconds(58), duration: .milliseconds(20))
        #expect(latency.current == .milliseconds(73))
        latency.observe(need: .milliseconds(300), duration: .milliseconds(20))
        // An eighth more than it needed.
        #expect(latency.current == .microseconds(337_500))
        latency.observe(need: .seconds(3), duration: .milliseconds(20))
        #expect(latency.current == .milliseconds(750))

        var steps: [MediaTime] = []
        for second in 1...300 {
            latency.observe(need: .milliseconds(30), duration: .milliseconds(20))
            latency.advance(to: .seconds(Int64(second)))
            if steps.last != latency.current { steps.append(latency.current) }
        }
        #expect(latency.current == .milliseconds(60))
        #expect(steps.allSatisfy { $0 >= .milliseconds(60) })
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0 > $1 && ($0 - $1) <= .milliseconds(173) })
        #expect(steps.count > 10)
    }

    @Test func onlyShortWaitsEndEarly() {
        #expect(MixingLatency(minimum: .milliseconds(150), maximum: .milliseconds(750)).endsEarly)
        #expect(!MixingLatency(minimum: .milliseconds(151), maximum: .milliseconds(750)).endsEarly)
    }

    @Test func keepsWhatTheLastSecondsNeeded() {
        var latency = MixingLatency(minimum: .milliseconds(60), maximum: .milliseconds(750))
        for second in 0...120 {
            latency.observe(need: .milliseconds(second % 7 == 0 ? 512 : 20), duration: .milliseconds(20))
            latency.advance(to: .seconds(Int64(second)))
        }
        #expect(latency.current == .milliseconds(576))
    }

    /// Lateness that creeps up, as when the broadcast clock follows a drift, costs no sample.
    @Test func creepingLatenessLosesNothing() throws {
        let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)
        let rig = try MixerRig()
        let samples = Tone(frequency: 440, level: 0.5).samples(count: 480_000, rate: 48_000)
        for block in 0..<(samples.count / 480) {
            let start = MediaTime.milliseconds(Int64(block * 10))
            // From 10 ms after the block's end to 400 ms.
            rig.advance(to: start + .milliseconds(20) + .microseconds(Int64(block * 390)))
            try rig.submit(format, PCMEncoder.bytes(Array(samples[block * 480..<(block + 1) * 480]), format), at: start)
        }
        rig.finish()
        #expect(rig.mixer.counters.app.lateFrames == 0)
        #expect(rig.mixer.counters.app.gaps == 0)
        #expect(rig.mixer.counters.latency > .milliseconds(400))
        #expect(rig.largestStep() < 0.03)
    }

    private static let mono = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)

    private func play(_ rig: MixerRig, _ range: Range<Int64>, of source: AudioSource = .app) throws {
        let samples = [Float](repeating: 0.1, count: Int(range.upperBound - range.lowerBound) * 48)
        try rig.submit(
            Self.mono, PCMEncoder.bytes(samples, Self.mono), at: .milliseconds(range.lowerBound), of: source)
    }

    /// A block that has all samples does not wait for late ones. It needs 1024 frames and 5 ms, which is 26.3 ms.
    @Test func completeBlocksAreMadeAtOnce() throws {
        let rig = try MixerRig()
        rig.advance(to: .milliseconds(20))
        #expect(rig.mixer.wait.lacks == nil)
        try play(rig, 0..<20)
        #expect(rig.mixer.wait.deadline == MediaTime(sample: 1264, rate: 48_000) + .milliseconds(60))
        let lacks = try #require(rig.mixer.wait.lacks)
        // The resampler keeps some of what it has.
        #expect(lacks.app >= MediaTime(sample: 304, rate: 48_000) && lacks.app < .milliseconds(8))
        #expect(lacks.microphone == .zero)
        rig.advance(to: .milliseconds(40))
        #expect(rig.output[0].isEmpty)
        try play(rig, 20..<40)
        #expect(rig.mixer.wait == MixerWait(deadline: MediaTime(sample: 1264, rate: 48_000), lacks: .init()))
        rig.advance(to: .milliseconds(41))
        #expect(rig.output[0].count == 1024)
        #expect(rig.mixer.counters.app.lateFrames == 0)
    }

    /// A client that is ahead of the clock does not make sound go ahead of it.
    @Test func blocksAreNotMadeBeforeTheyHaveEnded() throws {
        let rig = try MixerRig()
        rig.advance(to: .milliseconds(20))
        try play(rig, 0..<90)
        rig.advance(to: .milliseconds(26))
        #expect(rig.output[0].isEmpty)
        rig.advance(to: .milliseconds(27))
        #expect(rig.output[0].count == 1024)
        rig.advance(to: .milliseconds(48))
        #expect(rig.output[0].count == 2048)
    }

    /// A block waits for each source that has begun, but not longer than the latency.
    @Test func blocksWaitForAllSources() throws {
        let rig = try MixerRig()
        rig.advance(to: .milliseconds(30))
        try play(rig, 0..<30)
        try play(rig, 0..<20, of: .microphone)
        rig.advance(to: .milliseconds(50))
        #expect(rig.output[0].isEmpty)
        let lacks = try #require(rig.mixer.wait.lacks)
        #expect(lacks.app == .zero && lacks.microphone > .zero)
        try play(rig, 20..<40, of: .microphone)
        rig.advance(to: .milliseconds(51))
        #expect(rig.output[0].count == 1024)
        // The microphone has ended: the app's next block waits for the latency.
        try play(rig, 30..<60)
        rig.advance(to: .milliseconds(107))
        #expect(rig.output[0].count == 1024)
        rig.advance(to: .milliseconds(108))
        #expect(rig.output[0].count == 2048)
    }

    /// A source that has stopped is waited for during five seconds more, and again when it is back.
    @Test func aSourceThatHasStopped() throws {
        let rig = try MixerRig()
        func play(_ range: Range<Int64>, withMicrophone: Bool) throws -> MediaTime {
            for time in stride(from: range.lowerBound, to: range.upperBound, by: 20) {
                rig.advance(to: .milliseconds(time + 20))
                try self.play(rig, time..<time + 20)
                if withMicrophone { try self.play(rig, time..<time + 20, of: .microphone) }
                rig.advance(to: .milliseconds(time + 21))
            }
            return .milliseconds(range.upperBound) - MediaTime(sample: Int64(rig.output[0].count), rate: 48_000)
        }
        #expect(try play(0..<1000, withMicrophone: true) < .milliseconds(30))
        #expect(try play(1000..<5800, withMicrophone: false) > .milliseconds(60))
        #expect(try play(5800..<6200, withMicrophone: false) < .milliseconds(30))
        #expect(try play(6200..<7000, withMicrophone: true) < .milliseconds(30))
        #expect(try play(7000..<8000, withMicrophone: false) > .milliseconds(60))
        #expect(rig.mixer.counters.app.lateFrames == 0)
        #expect(rig.mixer.counters.microphone.lateFrames < 20 * 48)
    }

    /// A source that begins when the other one has been heard, and that comes later, loses its first blocks only.
    @Test(arguments: [Int64(30), 60, 80, 110]) func aLateSecondSourceIsHeard(delay: Int64) throws {
        let rig = try MixerRig()
        var late: [Int] = []
        for time in stride(from: Int64(0), to: 3_000, by: 5) {
            rig.advance(to: .milliseconds(time))
            if time >= 25, (time - 5) % 20 == 0 { try play(rig, time - 25..<time - 5) }
            let end = time - delay
            if end >= 1_020, end % 20 == 0 {
                try play(rig, end - 20..<end, of: .microphone)
                late.append(rig.mixer.counters.microphone.lateFrames)
            }
        }
        // It is missing until its first block has come, and until the block that was made then has ended.
        #expect(late.last ?? .max <= Int(delay + 60) * 48, "\(late)")
        #expect(late[10...].allSatisfy { $0 == late.last }, "\(late)")
        #expect(rig.mixer.counters.app.lateFrames == 0)
    }

    /// Sound that comes in bursts goes on evenly: no block is made before the latency has passed.
    @Test func burstsGoOnEvenly() throws {
        let rig = try MixerRig(AudioMixerSettings(expectedSources: [.app]))
        rig.advance(to: .milliseconds(500))
        try play(rig, 0..<500)
        let latency = rig.mixer.counters.latency
        #expect(latency > .milliseconds(500))
        for block in 1...10 {
            let deadline = MediaTime(sample: Int64(block * 1024 + 240), rate: 48_000) + latency
            #expect(rig.mixer.wait == MixerWait(deadline: deadline, lacks: .init()))
            rig.advance(to: deadline)
            #expect(rig.output[0].count == block * 1024)
        }
    }

    @Test func lateBlockLosesWhatWasRenderedAndNoMore() throws {
        let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)
        let rig = try MixerRig()
        let tone = Tone(frequency: 440, level: 0.5).samples(count: 9600, rate: 48_000)
        rig.advance(to: .milliseconds(300))
        let rendered = rig.output[0].count
        try rig.submit(format, PCMEncoder.bytes(tone, format), at: .milliseconds(150))
        rig.advance(to: .seconds(1))
        let ahead = 240
        #expect(abs(rig.mixer.counters.app.lateFrames - (rendered + ahead - 7200)) <= 1)
        #expect(rig.output[0][..<(rendered + ahead)].allSatisfy { $0 == 0 })
        #expect(Tone.measure(rig.output[0][(rendered + 600)..<16_700], frequency: 440, rate: 48_000).impurity < 0.002)
        #expect(rig.mixer.counters.latency == .milliseconds(175))
        // The next one as late as this is whole.
        rig.advance(to: .milliseconds(1150))
        try rig.submit(format, PCMEncoder.bytes(tone, format), at: .milliseconds(1000))
        let late = rig.mixer.counters.app.lateFrames
        rig.advance(to: .seconds(2))
        #expect(rig.mixer.counters.app.lateFrames == late)
    }
}
