/// The stacking order of the children of the root window. Pure.
package struct WindowStack: Sendable {
    package enum Level: Equatable, Sendable {
        case lowest, highest
        /// Directly above this window.
        case above(UInt32)
    }

    /// The lowest one first.
    private var order: [UInt32] = []

    /// - Parameter windows: the lowest one first.
    mutating func add(_ windows: [UInt32]) { for window in windows { put(window, .highest) } }

    mutating func remove(_ window: UInt32) { order.removeAll { $0 == window } }

    /// Puts a window, which may be new, at a level. If the window below it is unknown, it goes to the top.
    mutating func put(_ window: UInt32, _ level: Level) {
        remove(window)
        switch level {
        case .lowest: order.insert(window, at: 0)
        case .highest: order.append(window)
        case .above(let other):
            let index = order.lastIndex(of: other).map { order.index(after: $0) }
            order.insert(window, at: index ?? order.endIndex)
        }
    }

    /// The windows above a window; all windows if it is unknown.
    func above(_ window: UInt32) -> ArraySlice<UInt32> {
        order.lastIndex(of: window).map { order[order.index(after: $0)...] } ?? order[...]
    }

    /// The windows below a window; all windows if it is unknown.
    func below(_ window: UInt32) -> ArraySlice<UInt32> {
        order.firstIndex(of: window).map { order[..<$0] } ?? order[...]
    }
}
