internal import Glibc

/// Ends another thread's waits permanently. Any thread.
package final class Interrupt: Sendable {
    private let descriptor: EventDescriptor

    /// For `poll`: readable after `set`.
    package var raw: CInt { descriptor.raw }

    package init() throws(Errno) { descriptor = try EventDescriptor() }

    package func set() { descriptor.signal() }

    package var isSet: Bool {
        var one = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&one, 1, 0) > 0
    }
}
