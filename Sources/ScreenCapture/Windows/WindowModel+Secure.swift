/// Which windows are secure.
extension WindowModel {
    func isSecret(_ facts: WindowFacts, _ lookup: inout WindowRules.Lookup) -> Bool {
        facts.secure > 0 || facts.hasUnseen || rules.match(facts, &lookup)
    }

    var menuOwners: MenuOwners { MenuOwners(manager, windows: windows.values.lazy.compactMap(\.facts)) }

    /// The windows that ask for it or match a rule, and their dialogs, menus, tooltips and icons. If a rule has matched
    /// the class of a window, also windows of its program that have none. Unread windows stay what they were.
    ///
    /// - Parameter new: the facts that were just read.
    mutating func secureWindows(_ new: [UInt32: WindowFacts], _ lookup: inout WindowRules.Lookup) -> Set<UInt32> {
        let (windows, menus) = (windows, menuOwners)
        var dialogs = dialogs
        var secure = Set<UInt32>()
        for (id, window) in windows {
            let isSecret = window.facts.map { self.isSecret($0, &lookup) } ?? self.secure.contains(id)
            if isSecret { secure.insert(id) }
        }
        for names in windows.values.lazy.flatMap(\.names) where rules.matchClass(names) { named.insert(names.owner) }
        func isHarmless(_ client: UInt32) -> Bool {
            top(of: client).map { !secure.contains($0) && windows[$0]?.facts != nil } ?? false
        }
        var before = -1
        while secure.count != before {
            before = secure.count
            let makers = secure.reduce(into: owners) { all, top in
                if let facts = windows[top]?.facts { menus.owners(of: facts).forEach { all.insert($0) } }
            }
            // A manager may put an icon into a window of its own.
            for icon in secure.compactMap({ windows[$0]?.facts?.icon }) { top(of: icon).map { _ = secure.insert($0) } }
            for (id, window) in windows where !secure.contains(id) {
                guard let facts = window.facts else { continue }
                if let parent = parent(of: facts, in: secure) {
                    dialogs.note(facts.client, of: parent)
                    secure.insert(id)
                } else if new[id] != nil, isOrphan(facts) {
                    dialogs.noteOrphan(facts.client)
                    secure.insert(id)
                } else if dialogs.contains(facts.client, isHarmless: isHarmless)
                    || facts.hasNoClass && menus.owners(of: facts).contains(where: named.contains)
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

    /// Notes that a child of the root window has gone before it was read, or reread after a change.
    mutating func noteUnseen(_ event: WindowEvent) {
        guard let known = windows[event.window], known.isUnread, let maker = unseen.maker(of: event.window) else {
            return
        }
        if event.destroyed == nil {
            lose(event.window)
        } else {
            // A window that was never on the screen has had no menus. A menu that ends at once is most likely just a
            // menu, if something is known of its program.
            guard known.wasShown, !(known.isMenu && knownOwner(ofClient: maker) != nil) else { return }
            end(event.window)
        }
    }

    /// Notes that a client has ended in its frame. It may have become secure since it was read.
    mutating func noteUnseenClient(_ event: WindowEvent) {
        guard let client = event.destroyed, let frame = top(of: event.window), let known = windows[frame],
            known.names.contains(where: { $0.window == client }), known.isUnread
        else { return }
        end(client)
    }

    private mutating func end(_ window: UInt32) {
        guard let maker = unseen.maker(of: window) else { return }
        let owner = knownOwner(ofClient: maker)
        if unseen.end(window, owner: owner) { forgetMenus { $0.owner == owner } }
    }

    /// Notes that a window is inside another one, and was not found there.
    mutating func lose(_ window: UInt32) {
        guard let maker = unseen.maker(of: window) else { return }
        let owner = knownOwner(ofClient: maker)
        if unseen.lose(window, owner: owner) { forgetMenus { $0.maker == maker || $0.owner == owner } }
    }

    /// Whether a window is a menu, while it is unknown which programs are suspect.
    func mayBeSuspect(_ facts: WindowFacts) -> Bool { unseen.isWaiting && menuOwners.isMenu(facts) }

    /// The owner of an X client, as of the last reading; nil if none of its windows was read.
    private func knownOwner(ofClient client: UInt32) -> WindowNames.Owner? {
        for window in windows.values {
            if let names = window.names.first(where: { $0.maker == client }) { return names.owner }
        }
        return nil
    }

    /// Has the menus of an owner reread: the earlier decision about them may be wrong.
    private mutating func forgetMenus(of isOwner: (WindowNames) -> Bool) {
        for (id, window) in windows {
            if let facts = window.facts, facts.isOverrideRedirect, facts.names.contains(where: isOwner) { forget(id) }
        }
    }

    /// Whether the window's program may have had a secure window that was never read.
    func isOfUnseen(_ facts: WindowFacts) -> Bool { facts.names.contains(where: unseen.isOwner) }

    /// The window that a dialog belongs to, if that is secure or inside a secure window.
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
