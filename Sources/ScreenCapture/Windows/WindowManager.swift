/// The window manager, as far as it says who it is. Pure.
package enum WindowManager: Equatable, Sendable {
    /// Nobody puts frames around windows.
    case none
    /// It says neither by WM_S0 (ICCCM) nor by _NET_SUPPORTING_WM_CHECK (EWMH) who it is, as twm.
    case unnamed
    /// The X client that makes its windows.
    case client(UInt32)
}

/// Tells menus from what a window manager makes. Pure.
///
/// Frames and panels are override-redirect windows of one X client with many managers, as the menus of a program are.
/// A window that the manager's X client has made is nobody's menu. A frame does not own what is in it.
struct MenuOwners: Sendable {
    /// X clients that make frames.
    private let framers: Set<UInt32>

    /// - Parameter windows: children of the root window. An unnamed manager is whoever has a client of others inside.
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

    /// Who owns the client and what is in it, but not who has put a frame around it.
    func owners(of facts: WindowFacts) -> [WindowNames.Owner] {
        facts.names.lazy.filter { !framers.contains($0.maker) }.map(\.owner)
    }

    /// Whether a window is a menu, a tooltip or the like, of whatever program.
    func isMenu(_ facts: WindowFacts) -> Bool { facts.isOverrideRedirect && !framers.contains(facts.maker) }
}
