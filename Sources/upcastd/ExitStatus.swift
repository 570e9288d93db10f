/// What the daemon's exit status says; the numbers above 63 are those of sysexits.h.
enum ExitStatus: Int32 {
    /// Stopped as asked, and all that was left at the end was sent. What was lost before does not count: that is what
    /// `sent_all` in the log is for.
    case success = 0
    /// Stopped as asked, but the stop deadline passed before everything was sent; or nothing was ever published, though
    /// there was something to publish.
    case notDrained = 3
    case usage = 64
    /// A socket, a thread or a library that is needed cannot be had.
    case unavailable = 69
    /// Stopped as asked, but a thread hung, so that the end was cut short.
    case hung = 70
    case configuration = 78
}
