internal import CLinux
internal import Glibc

/// A wake-up that `poll` can wait for (eventfd). Any thread may signal; one thread clears.
package final class EventDescriptor: Sendable {
    private let descriptor: OwnedDescriptor
    package var raw: CInt { descriptor.raw }

    package init() throws(Errno) { descriptor = try OwnedDescriptor(checking: upcast_eventfd()) }

    /// Makes the descriptor readable; never blocks.
    package func signal() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor.raw, &one, 8)
    }

    /// Makes the descriptor unreadable. Returns false if it already was.
    @discardableResult
    package func clear() -> Bool {
        var value: UInt64 = 0
        return unsafe read(descriptor.raw, &value, 8) == 8
    }
}
