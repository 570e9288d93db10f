package import MediaCore

/// What the next block of a mixer waits for.
package struct MixerWait: Equatable, Sendable {
    /// Durations of samples, by source; zero for a source that has them all, or that is not active.
    package struct Lacks: Equatable, Sendable {
        package var app = MediaTime.zero
        package var microphone = MediaTime.zero

        package var isNone: Bool { app == .zero && microphone == .zero }
    }

    /// The broadcast time at which the block is made, whether or not the sources lack samples.
    package var deadline: MediaTime
    /// What the sources lack for the deadline to become earlier; none if it cannot. Nil at the start and while no
    /// source is active: then any PCM may change the deadline.
    package var lacks: Lacks?
}
