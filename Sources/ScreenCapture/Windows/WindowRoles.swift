/// Windows with a special role on the desktop, as of the last reading. Pure.
struct WindowRoles: Sendable {
    /// Windows that a window manager may use to take input, with the X client that made each.
    private(set) var inputTakers: [UInt32: UInt32] = [:]
    /// Guard windows as mutter has one, with the X client that made each.
    private(set) var guards: [UInt32: UInt32] = [:]
    /// Panels, with the X clients that have a window in each, such as an applet or a tray icon. Not window managers.
    private var panels: [UInt32: Set<UInt32>] = [:]

    /// - Parameter maker: the X client that made a window; nil for the server.
    mutating func note(
        _ facts: WindowFacts, of window: UInt32, manager: WindowManager, maker: (UInt32) -> UInt32?
    ) {
        inputTakers[window] = facts.takesInput ? facts.maker : nil
        guards[window] = facts.isGuard ? facts.maker : nil
        guard facts.types.contains(.dock) else { return panels[window] = nil }
        let framer = facts.hasFrame ? facts.maker : nil
        panels[window] = Set(facts.inside.compactMap(maker).filter { $0 != framer && manager != .client($0) })
    }

    mutating func forget(_ window: UInt32) { (inputTakers[window], guards[window], panels[window]) = (nil, nil, nil) }

    /// Whether an X client has a panel, or a window in one. Panels may show previews of windows.
    func isInPanel(_ client: UInt32) -> Bool { panels.values.contains { $0.contains(client) } }
}
