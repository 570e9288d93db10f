/// Which child of the root window each window is in, of those that were looked at. Pure.
///
/// Windows that were looked at have events from then on, whatever they are called. A program can also name any of them
/// as the parent of a dialog.
struct WindowTree: Sendable {
    private var tops: [UInt32: UInt32] = [:]
    private var windows: [UInt32: [UInt32]] = [:]

    /// - Parameter found: all windows in it, at most as many as are looked at.
    mutating func note(_ found: [UInt32], in top: UInt32) {
        forget(top)
        for window in found { tops[window] = top }
        windows[top] = found
    }

    /// It is gone, or went into another window.
    mutating func forget(_ top: UInt32) {
        // One that has been seen elsewhere since is there.
        for window in windows.removeValue(forKey: top) ?? [] where tops[window] == top { tops[window] = nil }
    }

    func top(of window: UInt32) -> UInt32? { tops[window] }
}
