import AudioMixing
import MediaCore
import SeededRandom
import Testing

/// The first seconds, in which nobody knows yet how late the sources come.
@Suite struct StartTests {
    private let app = AudioFormat(sampleRate: 44_100, channels: 2, encoding: .int16, isBigEndian: true)
    private let mono = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)

    /// Bursts of half a second in one block, or in many that carry their own times or the burst's, delivered after they
    /// have ended, up to 40 ms later: every sample from the first one on is heard.
    @Test(arguments: [(22_528, false), (1024, false), (1024, true)], 0..<4)
    func burstsAreWholeFromTheFirstOn(delivery: (block: Int, shareTimes: Bool), seed: UInt64) throws {
        let (block, shareTimes) = delivery
        let burst = 22_528
        var random = SplitMix64(seed: seed)
        let rig = try MixerRig(AudioMixerSettings(expectedSources: [.app]))
        let samples = Tone(frequency: 997, level: 0.5).samples(count: burst * 6, rate: 44_100)
        for first in stride(from: 0, to: samples.count, by: burst) {
            rig.advance(
                to: MediaTime(sample: Int64(first + burst), rate: 44_100)
                    + .microseconds(.random(in: 5_000...40_000, using: &random)))
            for start in stride(from: first, to: first + burst, by: block) {
                let bytes = PCMEncoder.bytes(Array(samples[start..<start + block]), app)
                try rig.submit(app, bytes, at: MediaTime(sample: Int64(shareTimes ? first : start), rate: 44_100))
            }
        }
        rig.finish()
        let counters = rig.mixer.counters.app
        #expect(counters.lateFrames == 0)
        #expect(counters.gaps == 0)
        for start in stride(from: 1000, to: 140_000, by: 10_000) {
            let heard = Tone.measure(rig.output[0][start..<start + 10_000], frequency: 997, rate: 48_000)
            #expect(abs(heard.decibels - -6.0206) < 0.1)
            #expect(heard.impurity < 0.001)
        }
    }

    /// A client that does not burst has its usual latency from its first block on, and nothing is lost.
    @Test func sourcesInTimeEndTheWait() throws {
        let rig = try MixerRig(AudioMixerSettings(expectedSources: [.app, .microphone]))
        let tone = Tone(frequency: 440, level: 0.25).samples(count: 96_000, rate: 48_000)
        rig.advance(to: .milliseconds(33))
        try rig.submit(mono, PCMEncoder.bytes(Array(tone[0..<960]), mono), at: .zero)
        // One of two: the other may yet come in a burst.
        #expect(rig.mixer.counters.latency == .milliseconds(600))
        try rig.submit(mono, PCMEncoder.bytes(Array(tone[0..<960]), mono), at: .zero, of: .microphone)
        #expect(rig.mixer.counters.latency == .milliseconds(60))
    }

    /// The microphone is there at once, the app comes in bursts.
    @Test func oneSourceMayBeInTimeAndTheOtherBurst() throws {
        let rig = try MixerRig(AudioMixerSettings(expectedSources: [.app, .microphone]))
        let tone = Tone(frequency: 997, level: 0.25).samples(count: 96_000, rate: 48_000)
        for block in 0..<100 {
            let start = block * 960
            rig.advance(to: MediaTime(sample: Int64(start + 960), rate: 48_000) + .milliseconds(10))
            try rig.submit(
                mono, PCMEncoder.bytes(Array(repeating: 0, count: 960), mono),
                at: MediaTime(sample: Int64(start), rate: 48_000), of: .microphone)
            if (block + 1) % 25 == 0 {
                let first = start + 960 - 24_000
                try rig.submit(
                    mono, PCMEncoder.bytes(Array(tone[first..<first + 24_000]), mono),
                    at: MediaTime(sample: Int64(first), rate: 48_000))
            }
        }
        rig.finish()
        #expect(rig.mixer.counters.app.lateFrames == 0)
        #expect(rig.mixer.counters.microphone.lateFrames == 0)
        #expect(Tone.measure(rig.output[0][1000..<90_000], frequency: 997, rate: 48_000).impurity < 0.001)
    }

    /// A source that never comes is waited for two seconds; then all that is due comes out at once.
    @Test func aSourceThatStaysAwayEndsTheWaitToo() throws {
        let rig = try MixerRig(AudioMixerSettings(expectedSources: [.microphone]))
        rig.advance(to: .milliseconds(1990))
        #expect(rig.mixer.counters.latency == .milliseconds(600))
        rig.advance(to: .milliseconds(2000))
        #expect(rig.mixer.counters.latency == .milliseconds(60))
        // 2,000 ms less the 60 ms that the mixer waits and the limiter's 5 ms.
        #expect(rig.output[0].count == 1935 * 48 / 1024 * 1024)
    }

    @Test func theWaitAtTheStartKeepsToTheBounds() throws {
        func latency(_ least: Int64, _ most: Int64, _ expected: Set<AudioSource> = [.app]) throws -> MediaTime {
            let settings = AudioMixerSettings(
                minimumLatency: .milliseconds(least), maximumLatency: .milliseconds(most), expectedSources: expected)
            return try AudioMixer(settings: settings).counters.latency
        }
        #expect(try latency(60, 750) == .milliseconds(600))
        #expect(try latency(60, 250) == .milliseconds(250))
        #expect(try latency(700, 750) == .milliseconds(700))
        #expect(try latency(60, 750, []) == .milliseconds(60))
    }
}
