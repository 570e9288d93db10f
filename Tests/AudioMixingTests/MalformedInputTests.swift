import AudioMixing
import MediaCore
import SeededRandom
import Testing

@Suite struct MalformedInputTests {
    @Test func payloadsThatAreNoWholeFramesAreRefused() throws {
        let rig = try MixerRig()
        let format = AudioFormat(sampleRate: 44_100, channels: 2, encoding: .int24)
        for count in [1, 5, 7, 6001] {
            let error = #expect(throws: AudioMixingError.self) {
                try rig.submit(format, Array(repeating: 0, count: count), at: .zero)
            }
            #expect(error == .payloadSize(bytes: count, bytesPerFrame: 6))
        }
        try rig.submit(format, [], at: .zero)
        #expect(rig.mixer.counters.app.refusedBlocks == 4)
        #expect(rig.mixer.counters.app.blocks == 0)
    }

    @Test(arguments: [(7_999, 2), (192_001, 2), (0, 1), (-44_100, 1), (44_100, 0), (44_100, 9), (44_100, -1)])
    func impossibleFormatsAreRefused(rate: Int, channels: Int) throws {
        let rig = try MixerRig()
        let format = AudioFormat(sampleRate: rate, channels: channels, encoding: .int16)
        let error = #expect(throws: AudioMixingError.self) {
            try rig.submit(format, Array(repeating: 0, count: 64), at: .zero)
        }
        #expect(error == .format(format))
        // The mixer goes on.
        try rig.play(
            AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16),
            Tone(frequency: 440, level: 0.5).samples(count: 4800, rate: 48_000))
        rig.finish()
        #expect(rig.output[0].contains { $0 > 0.4 })
    }

    @Test(arguments: [Int64.min, -1 << 62, -5_000_000_000, 0, 7_200_000_000_000, 1 << 62, .max])
    func anyTimeIsSafe(nanoseconds: Int64) throws {
        let rig = try MixerRig()
        let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)
        let tone = PCMEncoder.bytes(Tone(frequency: 440, level: 0.5).samples(count: 4800, rate: 48_000), format)
        try rig.submit(format, tone, at: MediaTime(nanoseconds: nanoseconds))
        try rig.submit(format, tone, at: .milliseconds(200))
        try rig.submit(format, tone, at: MediaTime(nanoseconds: nanoseconds))
        rig.advance(to: .seconds(2))
        #expect(Tone.measure(rig.output[0][10_000..<14_000], frequency: 440, rate: 48_000).level > 0.49)
        #expect(rig.discontinuities == 0)
    }

    @Test func blocksLongerThanTheRingAreCutToIt() throws {
        let rig = try MixerRig()
        let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)
        let tone = Tone(frequency: 440, level: 0.5).samples(count: 480_000, rate: 48_000)
        try rig.submit(format, PCMEncoder.bytes(tone, format), at: .zero)
        rig.finish()
        let counters = rig.mixer.counters.app
        #expect(counters.earlyFrames > 380_000)
        #expect(Tone.measure(rig.output[0][1000..<80_000], frequency: 440, rate: 48_000).impurity < 0.003)
    }

    @Test func badSettingsAreRefused() {
        for settings in [
            AudioMixerSettings(sampleRate: 4_000), AudioMixerSettings(channels: 3), AudioMixerSettings(appGain: .nan),
            AudioMixerSettings(microphoneGain: -1), AudioMixerSettings(limiterCeiling: 1),
            AudioMixerSettings(minimumLatency: .seconds(1)), AudioMixerSettings(maximumLatency: .seconds(6)),
            AudioMixerSettings(minimumLatency: .milliseconds(-1)), AudioMixerSettings(frameLength: 0),
        ] {
            #expect(throws: AudioMixingError.self) { try AudioMixer(settings: settings) }
        }
    }

    /// Anything a client may do, at random: the output stays whole, finite and below the ceiling.
    @Test(arguments: 0..<16)
    func anySequenceLeavesTheOutputWhole(seed: UInt64) throws {
        var random = SplitMix64(seed: seed &+ 1000)
        let rig = try MixerRig(AudioMixerSettings(sampleRate: 16_000, channels: .random(in: 1...2, using: &random)))
        for _ in 0..<60 {
            let format = AudioFormat(
                sampleRate: [8_000, 12_345, 44_100, 48_000, 192_000].randomElement(using: &random)!,
                channels: .random(in: 1...8, using: &random),
                encoding: PCMEncoding.allCases.randomElement(using: &random)!,
                isBigEndian: .random(using: &random), isInterleaved: .random(using: &random))
            let frames = Int.random(in: 0...format.sampleRate / 20, using: &random)
            let extra = Int.random(in: 0..<8, using: &random) == 0 ? 1 : 0
            var bytes = [UInt8](repeating: 0, count: frames * format.bytesPerFrame + extra)
            for index in bytes.indices where index % 3 != 0 { bytes[index] = .random(in: 0...255, using: &random) }
            let time = rig.now + .milliseconds(.random(in: -1500...1500, using: &random))
            try? rig.submit(format, bytes, at: time, of: Bool.random(using: &random) ? .app : .microphone)
            rig.advance(to: rig.now + .milliseconds(.random(in: 0...100, using: &random)))
        }
        rig.finish()
        #expect(rig.discontinuities == 0)
        #expect(rig.output.allSatisfy { $0.allSatisfy { abs($0) <= 0.892 } })
        #expect(rig.mixer.counters.latency <= .milliseconds(750))
    }

    @Test func memoryIsPlannable() {
        // Two rings of 1.8 s stereo, two resamplers and scratch.
        let bytes = AudioMixer.memoryBytes(AudioMixerSettings())
        #expect(bytes > 1_500_000 && bytes < 3_500_000)
        #expect(AudioMixer.memoryBytes(AudioMixerSettings(channels: 1)) < bytes)
        #expect(AudioMixer.memoryBytes(AudioMixerSettings(maximumLatency: .seconds(2))) > bytes)
    }
}
