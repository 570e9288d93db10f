/// Why something that a client sent was not encoded; the raw value is its name in JSON and metrics, and says what is
/// counted: frames of video, and for sound blocks (messages) or PCM frames.
enum SampleDropCause: String, CaseIterable {
    /// A newer frame came before the encoder was free.
    case videoSuperseded = "video_superseded"
    /// The source is faster than the canvas.
    case videoAboveFrameRate = "video_above_frame_rate"
    /// Its PTS did not rise.
    case videoNotAfterPrevious = "video_not_after_previous"
    /// Malformed, or its client vanished while it came.
    case videoAbandoned = "video_abandoned"
    /// An operator had paused the broadcast.
    case videoPaused = "video_paused"
    /// The curtain was up, or was raised while it was in hand.
    case videoCurtained = "video_curtained"
    case audioPaused = "audio_paused_blocks"
    case audioQueueFull = "audio_queue_full_blocks"
    /// The mixer could make nothing of it.
    case audioRefused = "audio_refused_blocks"
    /// The block that it belongs to had been mixed.
    case audioLate = "audio_late_frames"
    /// Further ahead than the mixer holds.
    case audioEarly = "audio_early_frames"
    /// Its place was taken by sound that came before.
    case audioOverlap = "audio_overlap_frames"
}
