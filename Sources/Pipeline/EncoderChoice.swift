internal import Encoding
internal import MediaCore

/// The encoder's savings that are in force.
struct EncoderSavings: OptionSet, Sendable {
    let rawValue: UInt8

    static let oneThread = EncoderSavings(rawValue: 1)
    static let noSubpixelMotion = EncoderSavings(rawValue: 2)
}

/// How a running encoder differs from the settings that its broadcast began with.
struct EncoderChoice: Equatable {
    var savings: EncoderSavings = []
    /// Nil where a preset decides.
    var effort: VideoEffort?

    /// The settings of this choice: for the same stream, with the same parameter sets.
    func settings(_ first: VideoEncoderSettings) -> VideoEncoderSettings {
        var settings = first
        settings.effort = effort
        if savings.contains(.oneThread) { settings = VideoEncoder.lean(settings, .oneThread) ?? settings }
        if savings.contains(.noSubpixelMotion) {
            settings = VideoEncoder.lean(settings, .noSubpixelMotion) ?? settings
        }
        return settings
    }

    /// Whether what takes this one's place makes better pictures at the same memory: then the next keyframe that is due
    /// is soon enough.
    func canWait(for other: EncoderChoice) -> Bool {
        guard savings == other.savings, let effort, let better = other.effort else { return false }
        return better > effort
    }
}
