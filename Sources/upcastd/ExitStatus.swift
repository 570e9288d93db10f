/// The exit status of the daemon. Numbers from 64 are from sysexits.h.
enum ExitStatus: Int32 {
    /// Stopped, and all queued packets were sent. Earlier drops do not count; `sent_all` in the log includes them.
    case success = 0
    /// Stopped, but the stop deadline passed before all queued packets were sent, or no broadcast was ever published.
    case notDrained = 3
    case usage = 64
    /// A required socket, thread or library is unavailable.
    case unavailable = 69
    /// Stopped, but a thread was blocked at the stop deadline.
    case hung = 70
    case configuration = 78
}
