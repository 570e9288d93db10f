package import MediaCore

/// Why audio was refused. The mixer is unchanged and accepts the next block.
package enum AudioMixingError: Error, Equatable, CustomStringConvertible {
    /// The settings are invalid. The text names the setting and the allowed values.
    case settings(String)
    /// Sample rate outside 8,000-192,000 or channels outside 1-8.
    case format(AudioFormat)
    /// The payload is not a whole number of frames.
    case payloadSize(bytes: Int, bytesPerFrame: Int)
    /// libswresample failed; `code` is an AVERROR.
    case resampler(operation: String, code: Int32)

    package var description: String {
        switch self {
        case .settings(let reason): "the audio mixer cannot be set up: \(reason)"
        case .format(let format):
            "audio of \(format.sampleRate) Hz and \(format.channels) channels was refused: "
                + "8,000 to 192,000 Hz and 1 to 8 channels are possible"
        case .payloadSize(let bytes, let bytesPerFrame):
            "an audio payload of \(bytes) bytes was refused: its format needs a multiple of \(bytesPerFrame)"
        case .resampler(let operation, let code):
            "\(operation) failed with \(code); the audio block was dropped"
        }
    }
}
