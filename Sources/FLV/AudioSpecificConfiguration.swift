/// The AudioSpecificConfig of an AAC-LC track, which decoders need first (ISO/IEC 14496-3, 1.6.2.1).
package struct AudioSpecificConfiguration: Equatable, Sendable {
    /// Frames a second of the core coder.
    package let sampleRate: Int
    /// 1 to 6, or 8.
    package let channels: Int

    /// samplingFrequencyIndex (table 1.18).
    private static let sampleRates = [
        96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
    ]
    /// channelConfiguration (table 1.19). Configuration 0 describes its channels in the stream.
    private static let channelCounts = [1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 8]
    private static let lowComplexity: UInt32 = 2
    private static let explicitRate: UInt32 = 15

    /// - Throws: `.unsupported` if AAC has no such rate (24 bits at most) or channel configuration.
    package init(sampleRate: Int, channels: Int) throws(CodecConfigurationError) {
        guard (1...0xff_ffff).contains(sampleRate) else { throw .unsupported("AAC at \(sampleRate) Hz") }
        guard Self.channelCounts.values.contains(channels) else { throw .unsupported("AAC with \(channels) channels") }
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// Parses a configuration. Ignores data after the core, such as the SBR signalling of libavcodec.
    package init(_ bytes: [UInt8]) throws(CodecConfigurationError) {
        var reader = BitReader(bytes, name: "AudioSpecificConfig")
        let objectType = try reader.bits(5)
        guard objectType == Self.lowComplexity else { throw .unsupported("MPEG-4 audio object type \(objectType)") }
        let index = try reader.bits(4)
        if index == Self.explicitRate {
            sampleRate = Int(try reader.bits(24))
            guard sampleRate > 0 else { throw .invalid("AAC sample rate 0") }
        } else {
            guard Int(index) < Self.sampleRates.count else { throw .invalid("AAC sample rate index \(index)") }
            sampleRate = Self.sampleRates[Int(index)]
        }
        let configuration = Int(try reader.bits(4))
        guard let channels = Self.channelCounts[configuration] else {
            throw .unsupported("AAC channel configuration \(configuration)")
        }
        self.channels = channels
        guard try !reader.flag() else { throw .unsupported("AAC with frames of 960 samples") }
        guard try !reader.flag() else { throw .unsupported("AAC with a core coder") }
        guard try !reader.flag() else { throw .invalid("AAC-LC extension flag") }
    }

    /// The bytes of the configuration: two, or five if the rate is not in AAC's table.
    package var bytes: [UInt8] {
        let configuration = Self.channelCounts.first { $0.value == channels }?.key ?? 0
        guard let index = Self.sampleRates.firstIndex(of: sampleRate) else {
            let rate = UInt64(Self.explicitRate) << 31 | UInt64(sampleRate) << 7
            let bits = UInt64(Self.lowComplexity) << 35 | rate | UInt64(configuration) << 3
            return stride(from: 32, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> UInt64($0)) }
        }
        let bits = UInt16(Self.lowComplexity) << 11 | UInt16(index) << 7 | UInt16(configuration) << 3
        return [UInt8(bits >> 8), UInt8(bits & 0xff)]
    }
}
