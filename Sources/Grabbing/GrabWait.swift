internal import Glibc
package import MediaCore

/// What a thread that grabs a screen waits for: something from the display, an order, or a moment.
package struct GrabWait: Sendable {
    private let display: CInt
    private let orders: CInt
    /// The earliest moment of those that were named; nil for none.
    private var deadline: MediaTime?

    /// - Parameters:
    ///   - display: its descriptor.
    ///   - orders: of `GrabControl`.
    package init(display: CInt, orders: CInt) { (self.display, self.orders) = (display, orders) }

    /// Names a moment to wait for; nil for none.
    package mutating func note(_ moment: MediaTime?) {
        if let moment { deadline = deadline.map { min($0, moment) } ?? moment }
    }

    /// - Parameter sends: the display has not taken all that was sent to it.
    package func wait(now: MediaTime, sends: Bool = false) {
        var waiting = (
            pollfd(fd: display, events: Int16(sends ? POLLIN | POLLOUT : POLLIN), revents: 0),
            pollfd(fd: orders, events: Int16(POLLIN), revents: 0)
        )
        let milliseconds = deadline.map { CInt(clamping: max(0, ($0 - now).nanoseconds + 999_999) / 1_000_000) } ?? -1
        _ = unsafe withUnsafeMutableBytes(of: &waiting) {
            unsafe poll($0.assumingMemoryBound(to: pollfd.self).baseAddress!, 2, milliseconds)
        }
    }
}
