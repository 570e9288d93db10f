/// Why a client's sample was not encoded. The raw value is the name in JSON and metrics. It names what is counted:
/// video frames, audio blocks (messages) or PCM frames.
enum SampleDropCause: String, CaseIterable {
    /// A newer frame came before the encoder was free.
    case videoSuperseded = "video_superseded"
    /// The source is faster than the canvas.
    case videoAboveFrameRate = "video_above_frame_rate"
    /// The PTS did not rise.
    case videoNotAfterPrevious = "video_not_after_previous"
    /// Malformed, or the client vanished while it arrived.
    case videoAbandoned = "video_abandoned"
    /// An operator had paused the broadcast.
    case videoPaused = "video_paused"
    /// The curtain was up, or was raised while the frame was in progress.
    case videoCurtained = "video_curtained"
    case audioPaused = "audio_paused_blocks"
    case audioQueueFull = "audio_queue_full_blocks"
    /// The mixer could not use the block.
    case audioRefused = "audio_refused_blocks"
    /// The mixer had already mixed the block's time.
    case audioLate = "audio_late_frames"
    /// The sound is further ahead than the mixer can hold.
    case audioEarly = "audio_early_frames"
    /// Earlier sound already occupied its place.
    case audioOverlap = "audio_overlap_frames"
}
