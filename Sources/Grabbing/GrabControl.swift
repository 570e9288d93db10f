package import LinuxSystem

/// The orders for a thread that grabs a screen. Any thread may give them; one thread takes them.
package final class GrabControl: Sendable {
    package struct Orders: Equatable, Sendable {
        package var isStopped = false
        /// Nothing may be sent.
        package var isPaused = false
        /// The picture has to be sent again: the daemon does not have it, or viewers do not see it.
        package var sendsAgain = false
    }

    private let orders = Monitor(Orders())
    private let event: EventDescriptor

    package init() throws(Errno) { event = try EventDescriptor() }

    /// Readable when something was ordered since `take`.
    package var descriptor: CInt { event.raw }

    package func stop() { tell { $0.isStopped = true } }

    /// After a pause, the picture is sent again.
    package func pause(_ isPaused: Bool) {
        tell {
            $0.isPaused = isPaused
            if !isPaused { $0.sendsAgain = true }
        }
    }

    package func sendAgain() { tell { $0.sendsAgain = true } }

    private func tell(_ change: (inout Orders) -> Void) {
        orders.withLock(change)
        event.signal()
    }

    /// Returns the orders, and resets `sendsAgain`.
    package func take() -> Orders {
        event.clear()
        return orders.withLock { orders in
            defer { orders.sendsAgain = false }
            return orders
        }
    }
}
