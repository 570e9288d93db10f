internal import Encoding
internal import MediaCore

/// How a running encoder differs from the settings that its broadcast began with.
struct EncoderChoice: Equatable {
    var savings: EncoderSavings = []
    /// Nil where a preset decides.
    var effort: VideoEffort?

    /// The settings of this choice: for the same stream, with the same parameter sets.
    func settings(_ first: VideoEncoderSettings) -> VideoEncoderSettings {
        var settings = first
        settings.effort = effort
        return VideoEncoder.lean(settings, savings) ?? settings
    }

    /// Whether what takes this one's place makes better pictures at the same memory: then the next keyframe that is due
    /// is soon enough.
    func canWait(for other: EncoderChoice) -> Bool {
        guard savings == other.savings, let effort, let better = other.effort else { return false }
        return better > effort
    }
}
