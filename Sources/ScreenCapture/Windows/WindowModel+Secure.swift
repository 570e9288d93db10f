/// Which windows are secure.
extension WindowModel {
    func isSecret(_ facts: WindowFacts) -> Bool { facts.secure > 0 || facts.hasUnseen || rules.match(facts) }

    var menuOwners: MenuOwners { MenuOwners(manager, windows: windows.values.lazy.compactMap(\.facts)) }

    /// Those that say so or match a rule, and what belongs to them: dialogs, menus, tooltips. Those that cannot be read
    /// are what they were.
    ///
    /// - Parameter new: what was just read.
    mutating func secureWindows(_ new: [UInt32: WindowFacts]) -> Set<UInt32> {
        let (windows, menus) = (windows, menuOwners)
        var dialogs = dialogs
        var secure = Set(windows.filter { $1.facts.map(isSecret) ?? self.secure.contains($0) }.keys)
        func isHarmless(_ client: UInt32) -> Bool {
            top(of: client).map { !secure.contains($0) && windows[$0]?.facts != nil } ?? false
        }
        var before = -1
        while secure.count != before {
            before = secure.count
            let makers = secure.reduce(into: owners) { all, top in
                if let facts = windows[top]?.facts { all.formUnion(menus.owners(of: facts)) }
            }
            for (id, window) in windows where !secure.contains(id) {
                guard let facts = window.facts else { continue }
                if let parent = parent(of: facts, in: secure) {
                    dialogs.note(facts.client, of: parent)
                    secure.insert(id)
                } else if new[id] != nil, isOrphan(facts) {
                    dialogs.noteOrphan(facts.client)
                    secure.insert(id)
                } else if dialogs.contains(facts.client, isHarmless: isHarmless)
                    || menus.isMenu(facts)
                        && (menus.owners(of: facts).contains(where: makers.contains) || isOfUnseen(facts))
                {
                    secure.insert(id)
                }
            }
        }
        dialogs.forget(where: isHarmless)
        self.dialogs = dialogs
        return secure
    }

    /// A child of the root window has gone of which nothing is known, or not what it was in the end.
    mutating func noteUnseen(_ event: WindowEvent) {
        guard let known = windows[event.window], known.isUnread else { return }
        let maker = unseen.maker(of: event.window)
        if event.destroyed == nil {
            unseen.wentInside(event.window)
        } else {
            // One that was never on the screen is no window of the program's that has menus. A menu that ends at once
            // is most likely just that, if something is known of its program.
            let isKnown = windows.values.contains { window in
                window.clients.contains { unseen.maker(of: $0) == maker }
            }
            guard known.wasShown, !(known.isMenu && isKnown) else { return }
            unseen.ended(event.window)
        }
        forgetMenus(of: maker)
    }

    /// A client has ended in its frame, and may have become secure since it was read.
    mutating func noteUnseenClient(_ event: WindowEvent) {
        guard let client = event.destroyed, let frame = top(of: event.window), let known = windows[frame],
            known.clients.contains(client), known.isUnread
        else { return }
        unseen.ended(client)
        forgetMenus(of: unseen.maker(of: client))
    }

    /// Has the menus of an X client read again: what was decided before may be wrong.
    private mutating func forgetMenus(of maker: UInt32) {
        for (id, window) in windows {
            if let facts = window.facts, facts.isOverrideRedirect, facts.isMade(by: maker) { forget(id) }
        }
    }

    /// Whether its X client may have had a secure window that nobody has read.
    func isOfUnseen(_ facts: WindowFacts) -> Bool { facts.names.contains { unseen.isMaker($0.maker) } }

    /// The window that a dialog belongs to, if that is a secure one or in one.
    private func parent(of facts: WindowFacts, in secure: Set<UInt32>) -> UInt32? {
        func isSecure(_ window: UInt32) -> Bool { top(of: window).map(secure.contains) ?? false }
        if let parent = facts.transientFor, isSecure(parent) { return parent }
        guard facts.isTransientForGroup, let group = facts.group else { return nil }
        if isSecure(group) { return group }
        return secure.lazy.compactMap { self.windows[$0]?.facts }.first { $0.group == group }?.client
    }

    /// Whether the window that a dialog belongs to is gone, and may have been secret.
    private func isOrphan(_ facts: WindowFacts) -> Bool {
        if let parent = facts.transientFor { return top(of: parent) == nil && dialogs.wasSecret(parent) }
        return facts.isTransientForGroup && facts.group.map(dialogs.wasSecret) ?? false
    }
}
