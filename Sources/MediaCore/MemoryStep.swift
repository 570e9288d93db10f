/// The parts that a broadcast can give up when memory is short, in this order: the least loss for viewers per MiB
/// first. First come parts for bad networks, then parts for slow encoders, and finally quality.
package enum MemoryStep: String, CaseIterable, Sendable {
    /// Half of the packet log, and at most the delay that then fits.
    case halfLog = "half_log"
    /// The smallest log in which a late destination can jump to a keyframe; no delay.
    case leastLog = "least_log"
    /// Two pictures instead of three.
    case twoPictures = "two_pictures"
    /// One encoder thread.
    case oneThread = "one_thread"
    /// The encoder without subpixel motion.
    case noSubpixelMotion = "no_subpixel_motion"
}
