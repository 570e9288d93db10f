import AudioMixing
import Foundation
import MediaCore
import SeededRandom
import Testing

@Suite struct LimiterTests {
    let stereo = AudioFormat(sampleRate: 48_000, channels: 2, encoding: .float32)

    @Test func belowTheCeilingNothingChanges() throws {
        let rig = try MixerRig()
        let tone = Tone(frequency: 997, level: 0.501187)
        try rig.play(stereo, tone.samples(count: 96_000, rate: 48_000))
        rig.finish()
        let heard = Tone.measure(rig.output[0][1000..<90_000], frequency: 997, rate: 48_000)
        #expect(abs(heard.decibels - -6) < 0.01)
        #expect(heard.impurity < 0.001)
        #expect(rig.mixer.counters.limitedFrames == 0)
    }

    @Test(arguments: [Float(-1), -3, 0])
    func twoFullScaleTonesStayBelowTheCeiling(ceiling: Float) throws {
        let rig = try MixerRig(AudioMixerSettings(limiterCeiling: ceiling))
        let app = Tone(frequency: 440, level: 1).samples(count: 96_000, rate: 48_000)
        let voice = Tone(frequency: 1500, level: 1).samples(count: 24_576, rate: 48_000)
        for block in 0..<93 {
            let start = MediaTime(sample: Int64(block * 1024), rate: 48_000)
            rig.advance(to: start + .milliseconds(30))
            try rig.submit(stereo, PCMEncoder.bytes(Array(app[block * 1024..<(block + 1) * 1024]), stereo), at: start)
            let spoken = (block - 30) * 1024..<(block - 29) * 1024
            if spoken.lowerBound >= 0, spoken.upperBound <= voice.count {
                try rig.submit(stereo, PCMEncoder.bytes(Array(voice[spoken]), stereo), at: start, of: .microphone)
            }
        }
        rig.finish()
        let limit = pow(10, ceiling / 20)
        let peak = rig.output[0].reduce(0) { max($0, abs($1)) }
        #expect(peak <= limit * 1.000001)
        #expect(peak > limit * 0.98)
        #expect(rig.mixer.counters.limitedFrames > 20_000)
        // Half of each while both play; and the app alone again up at the ceiling within the release.
        let both = Tone.measure(rig.output[0][34_000..<52_000], frequency: 440, rate: 48_000).level
        #expect(both > 0.45 * Double(limit) && both < 0.6 * Double(limit))
        let after = Tone.measure(rig.output[0][85_000..<94_000], frequency: 440, rate: 48_000).level
        #expect(after > 0.97 * Double(limit))
    }

    /// Whatever comes, garbage included, no sample leaves above the ceiling.
    @Test(arguments: 0..<12)
    func neverOverTheCeiling(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let rig = try MixerRig(
            AudioMixerSettings(
                sampleRate: [8_000, 44_100, 48_000].randomElement(using: &random)!,
                channels: .random(in: 1...2, using: &random), appGain: .random(in: 0...16, using: &random),
                frameLength: [64, 100, 1024, 3000].randomElement(using: &random)!))
        var start = 0
        for _ in 0..<20 {
            let count = Int.random(in: 1...1500, using: &random)
            let loud = Float.random(in: 0...4, using: &random)
            let samples = (0..<count).map { _ in
                Int.random(in: 0..<50, using: &random) == 0
                    ? Float(bitPattern: .random(in: 0...UInt32.max, using: &random))
                    : Float.random(in: -loud...loud, using: &random)
            }
            rig.advance(to: MediaTime(sample: Int64(start + count), rate: 48_000) + .milliseconds(10))
            try rig.submit(stereo, PCMEncoder.bytes(samples, stereo), at: MediaTime(sample: Int64(start), rate: 48_000))
            start += count
        }
        rig.finish()
        let limit = Float(0.8912509)
        #expect(rig.output.allSatisfy { $0.allSatisfy { abs($0) <= limit * 1.000001 } })
        #expect(rig.discontinuities == 0)
    }

    @Test func channelsShareTheGain() throws {
        let rig = try MixerRig()
        let loud = Tone(frequency: 440, level: 2).samples(count: 48_000, rate: 48_000)
        let soft = Tone(frequency: 440, level: 0.2).samples(count: 48_000, rate: 48_000)
        try rig.submit(stereo, PCMEncoder.bytes([loud, soft], stereo), at: .zero)
        rig.finish()
        let left = Tone.measure(rig.output[0][5000..<40_000], frequency: 440, rate: 48_000)
        let right = Tone.measure(rig.output[1][5000..<40_000], frequency: 440, rate: 48_000)
        #expect(abs(left.level / right.level - 10) < 0.05)
        #expect(left.impurity < 0.03)
    }
}
