internal import Glibc
internal import LinuxSystem
package import MediaCore

/// The wait of a grabbing thread for orders, for other descriptors, or for a deadline.
package struct GrabWait {
    /// The first one is for orders. `poll` ignores descriptors below 0.
    private var descriptors = InlineArray<4, pollfd>(repeating: pollfd(fd: -1, events: 0, revents: 0))
    private var count = 1
    private let now: MediaTime
    /// The earliest moment that was added; nil for none.
    private var deadline: MediaTime?

    /// - Parameter orders: the descriptor of `GrabControl`, or another one that ends the wait; -1 for none.
    package init(orders: CInt, now: MediaTime) {
        self.now = now
        descriptors[0] = pollfd(fd: orders, events: Int16(POLLIN), revents: 0)
    }

    /// Adds a descriptor to wait for, up to three.
    ///
    /// - Parameters:
    ///   - descriptor: -1 for none.
    ///   - events: of `poll`.
    package mutating func note(_ descriptor: CInt, events: Int16 = Int16(POLLIN)) {
        descriptors[count] = pollfd(fd: descriptor, events: events, revents: 0)
        count += 1
    }

    /// Adds a moment to wait for; nil for none.
    package mutating func note(_ moment: MediaTime?) {
        if let moment { deadline = deadline.map { min($0, moment) } ?? moment }
    }

    /// Adds the longest time to wait; nil for none.
    package mutating func note(atMost time: MediaTime?) { note(time.map { now + $0 }) }

    /// - Returns: whether there are orders.
    @discardableResult
    package func wait() -> Bool {
        let timeout = deadline.map { ($0 - now).pollTimeout } ?? -1
        var descriptors = descriptors
        var all = descriptors.mutableSpan
        _ = unsafe all.withUnsafeMutableBufferPointer { unsafe poll($0.baseAddress, 4, timeout) }
        return descriptors[0].revents != 0
    }
}
