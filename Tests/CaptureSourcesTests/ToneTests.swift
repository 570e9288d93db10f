import CaptureSources
import Foundation
import MediaCore
import Testing

@Suite struct ToneTests {
    /// Reads sample `frame` of `channel` back from any format.
    private func value(_ tone: ToneInput, _ frame: Int, _ channel: Int, frames: Int) -> Double {
        let format = tone.format
        let size = format.encoding.bytesPerSample
        let at = (format.isInterleaved ? frame * format.channels + channel : channel * frames + frame) * size
        let stored = tone.samples[at..<(at + size)]
        let bits = (format.isBigEndian ? Array(stored) : stored.reversed()).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return switch format.encoding {
        case .int16: Double(Int16(truncatingIfNeeded: bits)) / 32_767
        case .int24: Double(Int32(bitPattern: bits << 8) >> 8) / 8_388_607
        case .int32: Double(Int32(bitPattern: bits)) / 2_147_483_647
        case .float32: Double(Float(bitPattern: bits))
        }
    }

    @Test(arguments: PCMEncoding.allCases, [true, false])
    func everyFormatPlaysTheSameSine(encoding: PCMEncoding, bigEndian: Bool) throws {
        for interleaved in [true, false] {
            let format = AudioFormat(
                sampleRate: 48_000, channels: 3, encoding: encoding, isBigEndian: bigEndian, isInterleaved: interleaved)
            let tone = try ToneInput(format: format, frequency: 440)
            // Runs of odd lengths that cross a whole second, where the phase begins anew.
            var position = 0
            for frames in [1, 960, 47_000, 961] {
                #expect(tone.advance(frames: frames) == frames)
                for frame in stride(from: 0, to: frames, by: 97) {
                    let expected = 0.25 * sin(2 * Double.pi * 440 * Double(position + frame) / 48_000)
                    for channel in 0..<3 {
                        #expect(abs(value(tone, frame, channel, frames: frames) - expected) < 1e-4)
                    }
                }
                position += frames
            }
        }
    }

    @Test(arguments: [0, -1, 4_000, 40_000])
    func tonesMustBePlayable(frequency: Int) {
        let format = AudioFormat(sampleRate: 8_000, channels: 1, encoding: .int16)
        #expect(throws: InputError.self) { try ToneInput(format: format, frequency: frequency) }
    }
}
