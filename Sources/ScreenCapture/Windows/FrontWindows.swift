/// Which windows belong to the application that has to be in front. Pure.
///
/// `contains` is called for each window that moves, so it does not search the other windows.
struct FrontWindows: Sendable {
    private struct Window {
        var client: UInt32
        var owner: WindowNames.Owner?
        /// A rule chooses it.
        var isChosen: Bool
    }

    private let rules: WindowRules
    /// The children of the root window that were read.
    private var windows: [UInt32: Window] = [:]
    private var tops: [UInt32: UInt32] = [:]
    /// How many chosen windows each owner has. The owner's other windows, such as menus, belong to them.
    private var owners: [WindowNames.Owner: Int] = [:]

    init(_ rules: WindowRules) { self.rules = rules }

    /// Notes the facts of windows at one moment.
    mutating func note(_ all: [UInt32: WindowFacts]) {
        var lookup = WindowRules.Lookup(for: rules)
        for (window, facts) in all {
            forget(window)
            let isChosen = rules.choose(facts, &lookup)
            let new = Window(client: facts.client, owner: facts.owners.first, isChosen: isChosen)
            windows[window] = new
            tops[new.client] = window
            if new.isChosen { count(new.owner, 1) }
        }
    }

    /// Forgets the facts of a window.
    mutating func forget(_ window: UInt32) {
        guard let old = windows.removeValue(forKey: window) else { return }
        if tops[old.client] == window { tops[old.client] = nil }
        if old.isChosen { count(old.owner, -1) }
    }

    private mutating func count(_ owner: WindowNames.Owner?, _ change: Int) {
        guard let owner else { return }
        let sum = owners[owner, default: 0] + change
        owners[owner] = sum > 0 ? sum : nil
    }

    /// Whether a child of the root window, or the client inside it, is chosen, or has the same owner as a chosen
    /// window.
    func contains(_ window: UInt32) -> Bool {
        guard let known = windows[window] ?? tops[window].flatMap({ windows[$0] }) else { return false }
        return known.isChosen || known.owner.map { owners[$0] != nil } ?? false
    }
}
