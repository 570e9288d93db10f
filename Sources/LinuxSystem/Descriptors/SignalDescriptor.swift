internal import CLinux

/// Signals as a descriptor for `poll` (signalfd), blocked on all threads. Create it before threads start.
package struct SignalDescriptor: ~Copyable, Sendable {
    private let descriptor: OwnedDescriptor
    package var raw: CInt { descriptor.raw }

    package init(_ signals: [CInt]) throws(Errno) {
        let blocked = unsafe signals.withUnsafeBufferPointer {
            unsafe upcast_block_signals($0.baseAddress, CInt($0.count))
        }
        guard blocked == 0 else { throw Errno(blocked) }
        descriptor = try OwnedDescriptor(
            checking: unsafe signals.withUnsafeBufferPointer { unsafe upcast_signalfd($0.baseAddress, CInt($0.count)) })
    }

    /// The next pending signal; nil for none.
    package func next() -> CInt? {
        let number = upcast_read_signal(descriptor.raw)
        return number > 0 ? number : nil
    }
}
