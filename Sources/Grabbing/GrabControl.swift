package import LinuxSystem

/// What a thread that grabs a screen is told by others. Any thread may tell; one thread obeys.
package final class GrabControl: Sendable {
    package struct Orders: Equatable, Sendable {
        package var isStopped = false
        /// Nothing may be sent.
        package var isPaused = false
        /// The daemon does not have the picture that the screen shows, or viewers do not see it.
        package var sendsAgain = false
    }

    private let orders = Monitor(Orders())
    private let event: EventDescriptor

    package init() throws(Errno) { event = try EventDescriptor() }

    /// Readable when something was ordered since `take`.
    package var descriptor: CInt { event.raw }

    package func stop() { tell { $0.isStopped = true } }

    /// Afterwards, the picture is sent again.
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

    /// The orders, of which `sendsAgain` is given once.
    package func take() -> Orders {
        event.clear()
        return orders.withLock { orders in
            defer { orders.sendsAgain = false }
            return orders
        }
    }
}
