import AudioMixing
import MediaCore
import SeededRandom
import Testing

@Suite struct PlacementTests {
    let mono = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .float32)
    let app = AudioFormat(sampleRate: 44_100, channels: 2, encoding: .int16, isBigEndian: true)

    @Test func outputCoversTheTimelineWithoutSources() throws {
        let rig = try MixerRig()
        rig.advance(to: .milliseconds(1500))
        // 1,500 ms less the 60 ms that the mixer waits and the limiter's 5 ms.
        #expect(rig.output[0].count == 1435 * 48 / 1024 * 1024)
        #expect(rig.output[0].allSatisfy { $0 == 0 })
        #expect(rig.mixer.counters.silentBlocks == rig.mixer.counters.blocks)
        let deadline = rig.mixer.wait.deadline
        #expect(deadline > .milliseconds(1500) && deadline <= .milliseconds(1522))
        #expect(rig.discontinuities == 0)
    }

    @Test func jitterOfTimesMakesNoGaps() throws {
        let rig = try MixerRig()
        var random = SplitMix64(seed: 1)
        let samples = Tone(frequency: 440, level: 0.5).samples(count: 44_100 * 4, rate: 44_100)
        for block in 0..<(samples.count / 1024) {
            let bytes = PCMEncoder.bytes(Array(samples[block * 1024..<(block + 1) * 1024]), app)
            let start = MediaTime(sample: Int64(block * 1024), rate: 44_100)
            rig.advance(to: start + .milliseconds(30))
            let jitter = block == 0 ? 0 : Int64.random(in: -12_000...12_000, using: &random)
            try rig.submit(app, bytes, at: start + .microseconds(jitter))
        }
        rig.finish()
        let counters = rig.mixer.counters.app
        #expect(counters.gaps == 0)
        #expect(counters.overlaps == 0)
        #expect(counters.lateFrames == 0)
        #expect(abs(counters.driftPartsPerMillion) < 1500)
        // A 440 Hz sine of 0.5 moves by 0.0288 a sample.
        #expect(rig.largestStep() < 0.03)
        #expect(rig.largestStep(100_000..<100_100) > 0.02)
    }

    /// Samples under those of an earlier block are dropped, also if none of them has been rendered yet.
    @Test func overlapIsDroppedBeforeItIsLate() throws {
        let rig = try MixerRig()
        let tone = Tone(frequency: 440, level: 0.5).samples(count: 9_600, rate: 48_000)
        let bytes = PCMEncoder.bytes(tone, mono)
        try rig.submit(mono, bytes, at: .milliseconds(0))
        try rig.submit(mono, bytes, at: .milliseconds(100))
        rig.finish()
        let counters = rig.mixer.counters.app
        #expect(counters.overlaps == 1)
        #expect(counters.lateFrames == 0)
        // 100 ms, and the fade at the joint.
        #expect((4_800..<5_200).contains(counters.overlapFrames), "\(counters.overlapFrames)")
        #expect(rig.output[0].count >= 14_400 && rig.largestStep() < 0.03)
    }

    @Test func gapIsSilenceAndOverlapIsDropped() throws {
        let rig = try MixerRig()
        let tone = Tone(frequency: 440, level: 0.5).samples(count: 24_000, rate: 48_000)
        try rig.play(mono, tone)
        // 200 ms of nothing, then half a second that is said to begin 100 ms before the last one ended.
        try rig.play(mono, tone, from: .milliseconds(700))
        try rig.play(mono, tone, from: .milliseconds(1100))
        rig.finish()
        let counters = rig.mixer.counters.app
        #expect(counters.gaps == 1)
        #expect(abs(counters.silenceFrames - 9600) < 300)
        #expect(counters.overlaps >= 1)
        // Some of it comes too late to be placed anyway; the joint also loses the 5 ms of its fade.
        #expect(counters.overlapFrames > 200)
        #expect(abs(counters.overlapFrames + counters.lateFrames - 5050) < 50)
        #expect(rig.output[0][24_400..<33_500].allSatisfy { $0 == 0 })
        #expect(Tone.measure(rig.output[0][34_000..<57_000], frequency: 440, rate: 48_000).impurity < 0.002)
        #expect(Tone.measure(rig.output[0][58_500..<76_000], frequency: 440, rate: 48_000).impurity < 0.002)
        #expect(rig.largestStep() < 0.04)
        #expect(rig.mixer.contentEnd > .milliseconds(1599) && rig.mixer.contentEnd < .milliseconds(1610))
    }

    /// iOS 12 delivers 22,596 frames every 512 ms.
    @Test func burstsMakeTheLatencyGrowOnceAndArriveWhole() throws {
        let rig = try MixerRig()
        let samples = Tone(frequency: 997, level: 0.5).samples(count: 22_596 * 8, rate: 44_100)
        try rig.play(app, samples, block: 22_596)
        rig.finish()
        let counters = rig.mixer.counters
        #expect(counters.latency > .milliseconds(570) && counters.latency < .milliseconds(600))
        #expect(counters.app.overlaps == 0)
        #expect(counters.app.earlyFrames == 0)
        // The first burst is late: only as much of it is lost as had been rendered.
        #expect(counters.app.lateFrames > 20_000 && counters.app.lateFrames < 24_000)
        for start in stride(from: 26_000, to: 180_000, by: 10_000) {
            let heard = Tone.measure(rig.output[0][start..<start + 10_000], frequency: 997, rate: 48_000)
            #expect(abs(heard.decibels - -6.0206) < 0.1)
            #expect(heard.impurity < 0.001)
        }
        #expect(rig.largestStep() < 0.07)
    }

    /// A burst cut into blocks that all carry the burst's own time; with a short latency the first burst's end is
    /// still heard.
    @Test(arguments: [MediaTime.milliseconds(600), .milliseconds(60)])
    func blocksOfABurstMayShareTheirTime(latency: MediaTime) throws {
        let rig = try MixerRig(AudioMixerSettings(minimumLatency: latency))
        let samples = Tone(frequency: 997, level: 0.5).samples(count: 22_528 * 4, rate: 44_100)
        for burst in 0..<4 {
            let start = MediaTime(sample: Int64(burst * 22_528), rate: 44_100)
            rig.advance(to: start + .milliseconds(520))
            for block in 0..<22 {
                let from = burst * 22_528 + block * 1024
                try rig.submit(app, PCMEncoder.bytes(Array(samples[from..<from + 1024]), app), at: start)
            }
        }
        rig.finish()
        let counters = rig.mixer.counters.app
        #expect(counters.gaps == 0)
        #expect(counters.overlaps == 0)
        // 460 ms had been rendered when the first burst came; nothing when the latency was long from the start.
        let isLong = latency > .milliseconds(500)
        #expect(isLong ? counters.lateFrames == 0 : (20_000..<23_000).contains(counters.lateFrames))
        for start in stride(from: isLong ? 1000 : 23_000, to: 80_000, by: 10_000) {
            let heard = Tone.measure(rig.output[0][start..<start + 10_000], frequency: 997, rate: 48_000)
            #expect(heard.impurity < 0.001)
        }
    }

    @Test func sourcesMayComeLateAndGo() throws {
        let rig = try MixerRig()
        let appTone = Tone(frequency: 440, level: 0.25).samples(count: 48_000, rate: 48_000)
        let voice = Tone(frequency: 1500, level: 0.25).samples(count: 24_000, rate: 48_000)
        // App from 1 s to 2 s; microphone from 1.25 s to 1.75 s, block by block in between.
        for block in 0..<46 {
            let start = MediaTime.seconds(1) + MediaTime(sample: Int64(block * 1024), rate: 48_000)
            rig.advance(to: start + .milliseconds(30))
            try rig.submit(mono, PCMEncoder.bytes(Array(appTone[block * 1024..<(block + 1) * 1024]), mono), at: start)
            let spoken = (block - 12) * 1024..<(block - 11) * 1024
            if spoken.lowerBound >= 0, spoken.upperBound <= voice.count {
                try rig.submit(mono, PCMEncoder.bytes(Array(voice[spoken]), mono), at: start, of: .microphone)
            }
        }
        rig.advance(to: .seconds(3))
        func level(_ frequency: Double, _ range: Range<Int>) -> Double {
            Tone.measure(rig.output[0][range], frequency: frequency, rate: 48_000).level
        }
        #expect(rig.output[0][0..<47_900].allSatisfy { $0 == 0 })
        #expect(abs(level(440, 49_000..<59_000) - 0.25) < 0.001)
        #expect(level(1500, 49_000..<59_000) < 0.001)
        #expect(abs(level(440, 62_000..<82_000) - 0.25) < 0.001)
        #expect(abs(level(1500, 62_000..<82_000) - 0.25) < 0.001)
        #expect(level(1500, 86_000..<94_000) < 0.001)
        #expect(rig.output[0][97_000...].allSatisfy { $0 == 0 })
        #expect(rig.mixer.counters.app.gaps == 0)
        #expect(rig.mixer.counters.microphone.gaps == 0)
    }

    @Test func gainsApply() throws {
        let rig = try MixerRig(AudioMixerSettings(appGain: 0.5, microphoneGain: 2))
        let tone = Tone(frequency: 440, level: 0.25).samples(count: 96_000, rate: 48_000)
        try rig.play(mono, tone)
        rig.finish()
        #expect(abs(Tone.measure(rig.output[0][1000..<40_000], frequency: 440, rate: 48_000).level - 0.125) < 0.0005)

        let voice = try MixerRig(AudioMixerSettings(appGain: 0.5, microphoneGain: 2))
        try voice.play(mono, tone, of: .microphone)
        #expect(abs(Tone.measure(voice.output[1][1000..<40_000], frequency: 440, rate: 48_000).level - 0.5) < 0.002)
    }

    @Test func whatLiesBeforeZeroIsCut() throws {
        let rig = try MixerRig()
        let tone = Tone(frequency: 440, level: 0.5).samples(count: 9600, rate: 48_000)
        try rig.submit(mono, PCMEncoder.bytes(tone, mono), at: .milliseconds(-100))
        try rig.submit(mono, PCMEncoder.bytes(tone, mono), at: .milliseconds(100))
        rig.finish()
        let counters = rig.mixer.counters
        // With the limiter's look-ahead, which nothing is heard in.
        #expect(abs(counters.app.beforeStartFrames - 5040) <= 1)
        #expect(counters.latency == .milliseconds(60))
        #expect(Tone.measure(rig.output[0][600..<14_000], frequency: 440, rate: 48_000).impurity < 0.002)
        #expect(counters.app.gaps == 0)
    }

    /// Rate, encoding, channels and byte order change while a tone of full level goes on.
    @Test func formatChangesDoNotClick() throws {
        let formats = [
            app, AudioFormat(sampleRate: 44_100, channels: 1, encoding: .int24, isInterleaved: false),
            AudioFormat(sampleRate: 48_000, channels: 3, encoding: .float32),
            AudioFormat(sampleRate: 16_000, channels: 1, encoding: .int32, isBigEndian: true),
            AudioFormat(sampleRate: 96_000, channels: 8, encoding: .float32, isBigEndian: true, isInterleaved: false),
            app,
        ]
        let rig = try MixerRig()
        for (index, format) in formats.enumerated() {
            let start = index * format.sampleRate / 2
            let samples = Tone(frequency: 440, level: 0.8).samples(
                from: start, count: format.sampleRate / 2, rate: format.sampleRate)
            try rig.play(format, samples, from: .milliseconds(Int64(index * 500)), block: format.sampleRate / 50)
        }
        rig.finish()
        let counters = rig.mixer.counters.app
        #expect(counters.formatChanges == 5)
        #expect(counters.lateFrames == 0)
        #expect(counters.gaps == 0)
        // The tone itself moves by 0.046 a sample, a fade by 0.005; a click would be of the order of 0.8.
        #expect(rig.largestStep() < 0.055)
        for index in 0..<6 {
            let range = index * 24_000 + 1000..<(index + 1) * 24_000 - 500
            let heard = Tone.measure(rig.output[0][range], frequency: 440, rate: 48_000)
            #expect(abs(heard.decibels - -1.938) < 0.1)
            #expect(heard.impurity < 0.002)
        }
    }
}
