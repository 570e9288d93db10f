/// The window manager, as far as it identifies itself. Pure.
package enum WindowManager: Equatable, Sendable {
    /// No program puts frames around windows.
    case none
    /// It identifies itself neither by WM_S0 (ICCCM) nor by _NET_SUPPORTING_WM_CHECK (EWMH), like twm.
    case unnamed
    /// The X client that creates the manager's windows.
    case client(UInt32)
}

/// Tells menus of programs from windows of the window manager. Pure.
///
/// Many managers make their frames and panels as override-redirect windows of one X client, like a program's menus. So
/// a window that the manager's X client has made is no menu, and a frame does not own the client inside.
struct MenuOwners: Sendable {
    /// X clients that make frames.
    private let framers: Set<UInt32>

    /// - Parameter windows: children of the root window. An X client counts as an unnamed manager if its window frames
    ///   another X client's window.
    init(_ manager: WindowManager, windows: some Sequence<WindowFacts>) {
        switch manager {
        case .none: framers = []
        case .client(let client): framers = [client]
        case .unnamed: framers = Set(windows.lazy.filter(Self.isFrame).map(\.maker))
        }
    }

    private static func isFrame(_ facts: WindowFacts) -> Bool {
        facts.hasFrame && facts.names.first?.maker != facts.maker
    }

    /// The owners of the client window and of the windows in it, but not of its frame.
    func owners(of facts: WindowFacts) -> [WindowNames.Owner] {
        facts.names.lazy.filter { !framers.contains($0.maker) }.map(\.owner)
    }

    /// Whether a window is a menu, a tooltip or the like, of any program.
    func isMenu(_ facts: WindowFacts) -> Bool {
        facts.isOverrideRedirect && !framers.contains(facts.maker)
    }
}
