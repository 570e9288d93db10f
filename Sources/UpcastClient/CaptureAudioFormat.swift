internal import IngestProtocol
package import MediaCore

/// Which of the two sound inputs a sample belongs to.
public enum CaptureAudioSource: Sendable, CaseIterable {
    /// What the captured app plays.
    case app
    case microphone

    var source: AudioSource { self == .app ? .app : .microphone }
}

/// How one PCM sample is stored.
public enum CaptureSampleType: String, Sendable, CaseIterable {
    case int16
    /// Packed in three bytes.
    case int24
    case int32
    case float32
}

/// Rate, channels and storage of PCM.
public struct CaptureAudioFormat: Equatable, Sendable {
    package let format: AudioFormat

    /// Bytes of one frame over all channels.
    public var bytesPerFrame: Int { format.bytesPerFrame }
    public var sampleRate: Int { format.sampleRate }
    public var channels: Int { format.channels }

    /// A format that was checked elsewhere in the package.
    package init(format: AudioFormat) { self.format = format }

    /// - Parameters:
    ///   - sampleRate: frames a second, 8,000 to 192,000.
    ///   - channels: 1 to 8.
    ///   - type: how one sample is stored.
    ///   - bigEndian: whether a sample's most significant byte comes first.
    ///   - interleaved: false for one plane a channel, one behind the other.
    /// - Throws: `invalidArgument` with a sentence that says what would be right.
    public init(
        sampleRate: Int, channels: Int, type: CaptureSampleType, bigEndian: Bool = false, interleaved: Bool = true
    ) throws(CaptureError) {
        guard IngestLimits.audioRates.contains(sampleRate), (1...IngestLimits.maxAudioChannels).contains(channels)
        else {
            throw CaptureError(
                .invalidArgument,
                "\(channels) channels at \(sampleRate) Hz; 1 to 8 channels at 8000 to 192000 Hz are taken")
        }
        let encoding: PCMEncoding =
            switch type {
            case .int16: .int16
            case .int24: .int24
            case .int32: .int32
            case .float32: .float32
            }
        format = AudioFormat(
            sampleRate: sampleRate, channels: channels, encoding: encoding, isBigEndian: bigEndian,
            isInterleaved: interleaved)
    }
}
