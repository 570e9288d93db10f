internal import Encoding
internal import MediaCore

/// The settings of a running encoder that can differ from those at the broadcast's start.
struct EncoderChoice: Equatable {
    var savings: EncoderSavings = []
    /// Nil if a preset decides.
    var effort: VideoEffort?

    /// The encoder settings of this choice, for the same stream with the same parameter sets.
    func settings(_ first: VideoEncoderSettings) -> VideoEncoderSettings {
        var settings = first
        settings.effort = effort
        return VideoEncoder.lean(settings, savings) ?? settings
    }

    /// Whether `other` only makes better pictures and uses the same memory. The change can then wait for the next
    /// keyframe that is due.
    func canWait(for other: EncoderChoice) -> Bool {
        guard savings == other.savings, let effort, let better = other.effort else { return false }
        return better > effort
    }
}
