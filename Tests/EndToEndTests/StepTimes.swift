import LinuxSystem
import MediaCore

/// How long the steps of a test took, for the message of one that fails.
struct StepTimes: CustomStringConvertible {
    private(set) var description = "steps:"
    private var last = MonotonicClock().now()

    /// A step ends now.
    mutating func note(_ name: String) {
        let now = MonotonicClock().now()
        description += " \(name) \(now - last)"
        last = now
    }
}
