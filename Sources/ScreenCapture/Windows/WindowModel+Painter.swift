internal import Grabbing
internal import UpcastClient

/// What a window manager that composites, or an input method, shows of secret windows outside their places.
extension WindowModel {
    /// Whether a window is secret because of what it shows of others. Windows outside the screen, or covering all of
    /// it, do not count.
    func isSecretForOthers(_ window: Window) -> Bool {
        guard window.mayShowSecrets, let place = window.place?.intersection(bounds) else { return false }
        return place != bounds
    }

    /// Whether the manager may show windows anywhere on the screen: it takes all input, as for an overview of windows,
    /// or shows the desktop. KWin moves windows back before it reports that it no longer shows the desktop. GNOME Shell
    /// is asked, because it does so without windows.
    var placesAreUnknown: Bool {
        guard isComposited, let painter, !secure.isEmpty else { return false }
        if isOfMutter, showsChoice { return true }
        return showsDesktop && showsSecret || roles.inputTakers.contains { $1 == painter && takesAllInput($0) }
    }

    /// Whether an input-only window takes all input: it covers the screen, with no other window above. xfwm4 also takes
    /// all input for a menu, which is above.
    private func takesAllInput(_ id: UInt32) -> Bool {
        guard let window = windows[id], window.isMapped, window.place?.intersection(bounds) == bounds else {
            return false
        }
        return !isBelowOthers(id)
    }

    /// Whether a window is on the screen, and above all others there.
    func isOnTop(_ id: UInt32) -> Bool { isViewable(id) && !isBelowOthers(id) }

    private func isBelowOthers(_ id: UInt32) -> Bool {
        stack.above(id).contains { isViewable($0) && !isMark($0) && !isOverlay($0) }
    }

    /// Whether a window is a reference mark, perhaps of another capture of this screen.
    private func isMark(_ id: UInt32) -> Bool { windows[id]?.place.map(ReferenceMark.isSize) ?? false }

    /// Whether the server itself has made a window: the overlay window of a compositing manager, which shows all
    /// windows and is above them. The server reports it if it comes after `watchWindows`.
    func isOverlay(_ id: UInt32) -> Bool { unseen.maker(of: id) == nil }

    /// Whether a window may lie above a reference mark, or the mark is not where it was shown. The mark of another
    /// capture in the same place looks the same.
    func isDisplaced(_ mark: MarkWatch.Mark) -> Bool {
        guard let known = windows[mark.window] else { return false }
        return !known.isMapped || known.place != mark.place
            || stack.above(mark.window).contains { other in
                guard let window = windows[other], window.isViewable, !isOverlay(other) else { return false }
                return window.place.map { $0 != mark.place && $0.intersection(mark.place) != nil } ?? true
            }
    }

    /// Whether the manager is of mutter's family, such as GNOME Shell.
    var isOfMutter: Bool {
        guard let painter else { return false }
        return roles.guards.contains { windows[$0]?.isMapped ?? false && $1 == painter }
    }

    /// Notes whether the manager shows windows to choose from, at a moment after the next picture.
    mutating func note(showsChoice: Bool) {
        let wereUnknown = placesAreUnknown
        self.showsChoice = showsChoice
        if wereUnknown, !placesAreUnknown { pass(bounds) }
    }

    /// Notes that the manager begins or ends to show windows to choose from, at a moment that no question meets.
    mutating func passEverywhere() { if isOfMutter, !secure.isEmpty { pass(bounds) } }

    /// The manager shows another virtual desktop, or hides all windows or shows them again. Windows may move across the
    /// screen meanwhile.
    mutating func desktopChanged() { if isComposited { (hasUnreadManagers, hasUnreadDesktop) = (true, true) } }

    /// Notes that the managers were read. After a change of desktop, windows may have passed anywhere.
    mutating func noteDesktop(hadSecrets: Bool) {
        if hasUnreadDesktop, painter != nil, hadSecrets || !secure.isEmpty { pass(bounds, .passing(nil)) }
        (hasUnreadManagers, hasUnreadDesktop) = (false, false)
    }

    /// Notes that a window that may be secret gets another size or place. Managers show it between two sizes. They
    /// begin anew from there if it moves meanwhile.
    mutating func passMove(of id: UInt32, from old: CaptureRectangle?, to new: CaptureRectangle) {
        guard isComposited, painter != nil || hasUnreadManagers else { return }
        guard let path = (old ?? bounds).joined(with: new).intersection(bounds) else { return }
        pass(path, old?.hasSize(of: new) ?? false ? .moved(id) : .passing(id), isGuess: windows[id]?.isNew ?? false)
    }

    /// Notes that a window that may be secret comes from the taskbar or goes there. Managers show it on its way.
    ///
    /// - Parameter isStateChange: the window may be an icon now, or no longer one. GNOME Shell shrinks windows without
    ///   a place in the taskbar to an upper corner of their monitor.
    mutating func passTaskbar(_ id: UInt32, isStateChange: Bool = false) {
        guard isComposited, painter != nil || hasUnreadManagers, mayBeSecure(id), let window = windows[id],
            !window.isMenu, let place = window.place
        else { return }
        guard let known = icons(of: id) else {
            pass(bounds, .passing(id), isGuess: window.isNew)
            return
        }
        var icons = known.places
        // KWin's Magic Lamp moves it from the pointer, or there.
        if isStateChange, !isOfMutter, !window.isNew, icons.isEmpty || !known.areSure { pass(bounds, .passing(id)) }
        if isStateChange, isOfMutter || painter == nil, window.iconPlace == nil {
            icons.append(CaptureRectangle(x: 0, y: 0, width: bounds.width, height: 1))
        }
        for icon in icons {
            var path = place.joined(with: icon)
            if isOfMutter || painter == nil {
                // mutter moves the window's corner to the icon, and shrinks the window to its middle.
                path = path.joined(
                    with: CaptureRectangle(x: icon.x, y: icon.y, width: place.width, height: place.height))
            }
            if let path = path.intersection(bounds) { pass(path, .passing(id), isGuess: window.isNew) }
        }
    }

    /// The places in a taskbar from which a window may come, or to which it may go: its own, or its parents' if it is a
    /// dialog. Not sure if it may be a dialog of others.
    ///
    /// Nil if a place has moved, or for too many parents. Harmless windows whose place has moved are reread only now.
    private mutating func icons(of id: UInt32) -> (places: [CaptureRectangle], areSure: Bool)? {
        var (icons, areSure): ([CaptureRectangle], Bool) = ([], true)
        var (known, next): ([UInt32], [UInt32]) = ([id], [id])
        while let id = next.popLast() {
            guard let window = windows[id] else { continue }
            guard known.count <= Self.maxParents else { return nil }
            if window.hasIconMoved {
                if window.facts != nil { forget(id, isDoubtful: false) }
                return nil
            }
            if let icon = window.iconPlace {
                icons.append(icon)
                continue
            }
            let parents = parents(of: window)
            areSure = areSure && parents != nil
            let others = (parents ?? Array(secure)).filter { !known.contains($0) }
            known += others
            next += others
        }
        return (icons, areSure)
    }

    /// With more windows to look at, places are taken as unknown: programs choose how many there are.
    private static let maxParents = 64

    /// The windows of which a window is a dialog, as far as was read. Nil if they are unknown.
    private func parents(of window: Window) -> [UInt32]? {
        if window.isNew || window.hasChanged { return nil }
        if window.isTransientForGroup, let group = window.group {
            return windows.lazy.filter { $1.group == group }.map(\.key)
        }
        guard let parent = window.transientFor else { return [] }
        return top(of: parent).map { [$0] }
    }
}
