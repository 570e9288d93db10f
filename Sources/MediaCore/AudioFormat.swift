/// The flags of Core Audio's AudioFormatFlags that linear PCM uses, with Core Audio's values.
package struct AudioFormatFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// kAudioFormatFlagIsFloat
    package static let float = AudioFormatFlags(rawValue: 1 << 0)
    /// kAudioFormatFlagIsBigEndian
    package static let bigEndian = AudioFormatFlags(rawValue: 1 << 1)
    /// kAudioFormatFlagIsSignedInteger
    package static let signedInteger = AudioFormatFlags(rawValue: 1 << 2)
    /// kAudioFormatFlagIsPacked: samples fill their containers.
    package static let packed = AudioFormatFlags(rawValue: 1 << 3)
    /// kAudioFormatFlagIsAlignedHigh
    package static let alignedHigh = AudioFormatFlags(rawValue: 1 << 4)
    /// kAudioFormatFlagIsNonInterleaved: one plane for each channel, one behind the other in the payload.
    package static let nonInterleaved = AudioFormatFlags(rawValue: 1 << 5)
}

/// The storage of one PCM sample.
package enum PCMEncoding: CaseIterable, Sendable, Hashable {
    case int16, int24, int32, float32

    /// Bytes of one sample of one channel; 24-bit samples are packed in three bytes.
    package var bytesPerSample: Int {
        switch self {
        case .int16: 2
        case .int24: 3
        case .int32, .float32: 4
        }
    }
}

/// A linear PCM format: the checked contents of an AudioStreamBasicDescription.
package struct AudioFormat: Hashable, Sendable {
    /// Frames per second, 8,000 to 192,000.
    package var sampleRate: Int
    /// 1 to 8.
    package var channels: Int
    package var encoding: PCMEncoding
    package var isBigEndian: Bool
    package var isInterleaved: Bool

    package init(
        sampleRate: Int, channels: Int, encoding: PCMEncoding, isBigEndian: Bool = false, isInterleaved: Bool = true
    ) {
        self.sampleRate = sampleRate
        self.channels = channels
        self.encoding = encoding
        self.isBigEndian = isBigEndian
        self.isInterleaved = isInterleaved
    }

    /// Bytes of one frame in all channels, planar or interleaved.
    package var bytesPerFrame: Int { encoding.bytesPerSample * channels }
}

/// The input that a PCM sample belongs to: ReplayKit's audioApp or audioMic.
package enum AudioSource: UInt8, CaseIterable, Sendable {
    case app = 0
    case microphone = 1
}
