internal import UpcastClient

/// The application window that is captured alone, and what belongs to it.
extension WindowModel {
    /// The application window that a choice means: of several viewable ones, the one with the lowest number.
    func window(chosenBy choice: WindowChoice) -> (top: UInt32, client: UInt32)? {
        var lookup = choice.lookup
        return lowestShown { choice.means($0, $1, &lookup) }
    }

    /// A viewable window that a choice does not mean although its rule matches: an override-redirect window.
    func overrideRedirectWindow(matching choice: WindowChoice) -> UInt32? {
        guard case .rule(let rules) = choice else { return nil }
        var lookup = choice.lookup
        return lowestShown { id, facts in
            facts.isOverrideRedirect && facts.client == id && rules.choose(facts, &lookup)
        }?.top
    }

    /// The lowest viewable window that shows something, as far as it is read, and is wanted.
    private func lowestShown(_ isWanted: (UInt32, WindowFacts) -> Bool) -> (top: UInt32, client: UInt32)? {
        var lowest: (top: UInt32, client: UInt32)?
        for (id, window) in windows where window.isViewable && id < lowest?.top ?? .max {
            guard let facts = window.facts, !facts.isEmptyFrame, !facts.isInputOnly else { continue }
            if isWanted(id, facts) { lowest = (id, facts.client) }
        }
        return lowest
    }

    /// Whether a child of the root window is viewable and still shows a client; nil if the child is unread.
    func shows(_ client: UInt32, in top: UInt32) -> Bool? {
        guard let window = windows[top], window.isViewable else { return false }
        return window.facts.map { $0.client == client }
    }

    /// Whether a child of the root window is secure, or may be.
    func isSecure(_ top: UInt32) -> Bool { windows[top]?.facts == nil || mayBeSecure(top) }

    /// Whether a window on the screen asks to hide everything.
    var hidesEverything: Bool { windows.values.contains { $0.isViewable && $0.hidesEverything } }

    /// Dialogs, menus and tooltips of an application window, and their places, including borders. Secure ones are left
    /// out.
    ///
    /// A menu that names no parent belongs to the window if their owner has no other window on the screen.
    func popups(of top: UInt32) -> [(top: UInt32, place: CaptureRectangle)] {
        guard let owner = windows[top]?.facts?.owners.first else { return [] }
        let owners = menuOwners
        var (dialogs, menus, silent): ([UInt32], [UInt32], [UInt32]) = ([], [], [])
        var isAlone = true
        for (id, window) in windows where id != top && window.isViewable {
            guard let facts = window.facts, !facts.isEmptyFrame, !facts.isInputOnly else { continue }
            let (parent, isMenu) = (ancestor(of: id), owners.isMenu(facts))
            let hasOwner = owners.owners(of: facts).first == owner
            if parent == top {
                if isMenu { menus.append(id) } else { dialogs.append(id) }
            } else if hasOwner, !isMenu {
                isAlone = false
            } else if hasOwner, parent == id || windows[parent]?.isViewable != true {
                silent.append(id)
            }
        }
        if isAlone { menus += silent }
        return (dialogs.sorted() + menus.sorted()).compactMap { id in
            isSecure(id) ? nil : windows[id]?.place.map { (id, $0) }
        }
    }

    /// The window that a dialog or menu belongs to, across all dialogs in between; itself if it belongs to none.
    private func ancestor(of window: UInt32) -> UInt32 {
        var (at, seen): (UInt32, Set<UInt32>) = (window, [window])
        while let parent = windows[at]?.facts?.transientFor.flatMap(top(of:)), seen.insert(parent).inserted {
            at = parent
        }
        return at
    }
}
