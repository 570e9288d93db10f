/// Which child of the root window contains each window that was looked at. Pure.
///
/// These windows report events from then on, with or without names. A program can also name any of them as the parent
/// of a dialog.
struct WindowTree: Sendable {
    private var tops: [UInt32: UInt32] = [:]
    private var windows: [UInt32: [UInt32]] = [:]

    /// - Parameter found: all windows in it that were looked at.
    mutating func note(_ found: [UInt32], in top: UInt32) {
        forget(top)
        for window in found { tops[window] = top }
        windows[top] = found
    }

    /// The child is gone, or went into another window.
    mutating func forget(_ top: UInt32) {
        // A window that was found elsewhere since belongs there.
        for window in windows.removeValue(forKey: top) ?? [] where tops[window] == top { tops[window] = nil }
    }

    func top(of window: UInt32) -> UInt32? { tops[window] }
}
