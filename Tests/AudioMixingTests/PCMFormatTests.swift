import MediaCore
import Testing

@testable import AudioMixing

@Suite struct PCMFormatTests {
    static let layouts: [(PCMEncoding, Bool, Bool)] = PCMEncoding.allCases.flatMap { encoding in
        [(encoding, false, false), (encoding, false, true), (encoding, true, false), (encoding, true, true)]
    }

    /// A fifth of a second of tone, played through a mixer.
    private func play(_ tone: Tone, sent: AudioFormat, declared: AudioFormat, outputs: Int) throws -> MixerRig {
        let rig = try MixerRig(AudioMixerSettings(channels: outputs))
        let samples = tone.samples(count: sent.sampleRate / 5, rate: sent.sampleRate)
        try rig.submit(declared, PCMEncoder.bytes(samples, sent), at: .zero)
        rig.finish()
        return rig
    }

    @Test(arguments: layouts)
    func everyLayoutArrivesAtItsPitchAndLevel(encoding: PCMEncoding, isBigEndian: Bool, isInterleaved: Bool) throws {
        let tone = Tone(frequency: 997, level: 0.5)
        for channels in 1...8 {
            let format = AudioFormat(
                sampleRate: 44_100, channels: channels, encoding: encoding, isBigEndian: isBigEndian,
                isInterleaved: isInterleaved)
            let outputs = channels % 2 + 1
            let rig = try play(tone, sent: format, declared: format, outputs: outputs)
            for output in 0..<outputs {
                let heard = Tone.measure(rig.output[output][1000..<9000], frequency: 997, rate: 48_000)
                #expect(abs(heard.decibels - -6.0206) < 0.1, "\(format)")
                #expect(abs(heard.frequency - 997) < 0.5, "\(format)")
                #expect(heard.impurity < 0.003, "\(format)")
            }
        }
    }

    /// What the test above would see of a byte swap too many or too few.
    @Test(arguments: PCMEncoding.allCases)
    func wrongByteOrderIsSeen(encoding: PCMEncoding) throws {
        let format = AudioFormat(sampleRate: 44_100, channels: 2, encoding: encoding, isBigEndian: true)
        var wrong = format
        wrong.isBigEndian = false
        let rig = try play(Tone(frequency: 997, level: 0.5), sent: format, declared: wrong, outputs: 2)
        let heard = Tone.measure(rig.output[0][1000..<9000], frequency: 997, rate: 48_000)
        #expect(heard.impurity > 0.5)
    }

    @Test(arguments: [8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 47_999, 48_000, 88_200, 96_000, 192_000])
    func everyRateArrivesInPitchAndInTime(rate: Int) throws {
        let rig = try MixerRig()
        let format = AudioFormat(sampleRate: rate, channels: 1, encoding: .float32)
        var samples = Tone(frequency: 997, level: 0.25).samples(count: rate / 2, rate: rate)
        // A smooth pulse of 4 ms around 0.4 s, too slow for any filter to move its peak.
        let pulse = rate * 2 / 5
        for index in samples.indices where index >= rate * 3 / 10 {
            let x = Float(index - pulse) / Float(rate) * 1000
            samples[index] = 0.5 * max(0, 1 - x * x / 4)
        }
        try rig.submit(format, PCMEncoder.bytes(samples, format), at: .milliseconds(100))
        rig.finish()
        let heard = Tone.measure(rig.output[0][6000..<17_000], frequency: 997, rate: 48_000)
        #expect(abs(heard.decibels - -12.0412) < 0.1)
        #expect(abs(heard.frequency - 997) < 0.5)
        #expect(heard.impurity < 0.001)
        let peak = rig.output[1].indices.max { rig.output[1][$0] < rig.output[1][$1] }!
        #expect(abs(peak - 24_000) <= max(1, 48_000 / rate))
    }

    @Test(arguments: 1...8, [true, false])
    func eachChannelGoesWhereItBelongs(channels: Int, isInterleaved: Bool) throws {
        // ITU-R BS.775 with the sum of each row scaled to one, written out.
        let h: Float = 0.70710678
        let expected: [[(Float, Float)]] = [
            [(1, 1)], [(1, 0), (0, 1)], [(1, 0), (0, 1), (0, 0)],
            [(1, 0), (0, 1), (h, 0), (0, h)].map { ($0.0 / (1 + h), $0.1 / (1 + h)) },
            [(1, 0), (0, 1), (h, h), (h, 0), (0, h)].map { ($0.0 / (1 + 2 * h), $0.1 / (1 + 2 * h)) },
            [(1, 0), (0, 1), (h, h), (0, 0), (h, 0), (0, h)].map { ($0.0 / (1 + 2 * h), $0.1 / (1 + 2 * h)) },
            [(1, 0), (0, 1), (h, h), (0, 0), (h, h), (h, 0), (0, h)].map {
                ($0.0 / (1 + 3 * h), $0.1 / (1 + 3 * h))
            },
            [(1, 0), (0, 1), (h, h), (0, 0), (h, 0), (0, h), (h, 0), (0, h)].map {
                ($0.0 / (1 + 3 * h), $0.1 / (1 + 3 * h))
            },
        ]
        let format = AudioFormat(
            sampleRate: 48_000, channels: channels, encoding: .float32, isBigEndian: true, isInterleaved: isInterleaved)
        for channel in 0..<channels {
            var signal = Array(repeating: Array(repeating: Float(0), count: 4096), count: channels)
            signal[channel] = Tone(frequency: 1500, level: 0.5).samples(count: 4096, rate: 48_000)
            for outputs in 1...2 {
                let rig = try MixerRig(AudioMixerSettings(channels: outputs))
                try rig.submit(format, PCMEncoder.bytes(signal, format), at: .zero)
                rig.finish()
                let weights = expected[channels - 1][channel]
                let wanted = outputs == 2 ? [weights.0, weights.1] : [(weights.0 + weights.1) / 2]
                for output in 0..<outputs {
                    let heard = Tone.measure(rig.output[output][1000..<3500], frequency: 1500, rate: 48_000)
                    #expect(abs(heard.level - 0.5 * Double(wanted[output])) < 0.002)
                }
            }
        }
    }

    @Test func fullScaleAndZeroAreExact() {
        func decode(_ bytes: [UInt8], _ encoding: PCMEncoding, big: Bool) -> [Float] {
            var target = Array(repeating: Float.nan, count: bytes.count / encoding.bytesPerSample)
            let count = target.count
            bytes.withUnsafeBytes { source in
                target.withUnsafeMutableBufferPointer { target in
                    PCMDecoder.decode(
                        source.baseAddress!, count: count, encoding: encoding, isBigEndian: big,
                        into: target.baseAddress!)
                }
            }
            return target
        }
        #expect(decode([0x80, 0, 0x7F, 0xFF, 0, 0], .int16, big: true) == [-1, 32_767 / 32_768, 0])
        #expect(decode([0xFF, 0xFF], .int16, big: true) == [-1 / 32_768])
        #expect(decode([0, 0x80, 0xFF, 0x7F, 1, 0], .int16, big: false) == [-1, 32_767 / 32_768, 1 / 32_768])
        #expect(decode([0x80, 0, 0, 0x40, 0, 0, 0, 0, 1], .int24, big: true) == [-1, 0.5, 1 / 8_388_608])
        #expect(decode([0, 0, 0x80, 0, 0, 0xC0, 1, 0, 0], .int24, big: false) == [-1, -0.5, 1 / 8_388_608])
        #expect(decode([0x80, 0, 0, 0, 0x40, 0, 0, 0], .int32, big: true) == [-1, 0.5])
        #expect(decode([0, 0, 0, 0x80, 0, 0, 0, 0x40], .int32, big: false) == [-1, 0.5])
        let limit = PCMDecoder.largestMagnitude
        let odd: [(Float, Float)] = [
            (.nan, 0), (-.nan, 0), (.infinity, 0), (-.infinity, 0), (.signalingNaN, 0), (1e30, limit), (-1e30, -limit),
            (.leastNonzeroMagnitude, 0), (1, 1), (-0.25, -0.25), (limit, limit), (0, 0),
        ]
        for big in [true, false] {
            let format = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .float32, isBigEndian: big)
            #expect(decode(PCMEncoder.bytes(odd.map(\.0), format), .float32, big: big) == odd.map(\.1))
        }
    }
}
