internal import Grabbing
internal import UpcastClient

/// What a window manager that composites, or an input method, shows of secret windows outside their places.
extension WindowModel {
    /// Whether a window is secret because of what it shows of others. Managers' windows outside the screen, or covering
    /// all of it, do not count.
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
        return showsDesktop && showsSecret || inputTakers.contains { $1 == painter && takesAllInput($0) }
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
        return guards.contains { windows[$0]?.isMapped ?? false && $1 == painter }
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
        guard let way = (old ?? bounds).joined(with: new).intersection(bounds) else { return }
        pass(way, old?.hasSize(of: new) ?? false ? .moved(id) : .passing(id), isGuess: windows[id]?.isNew ?? false)
    }

    /// Notes that a window that may be secret comes from the taskbar or goes there. Managers show it on its way.
    /// Dialogs go where their parent goes.
    ///
    /// - Parameter isIcon: the manager may have reported that the window is now an icon, or no longer one. GNOME Shell
    ///   shrinks windows without a place in the taskbar to an upper corner of their monitor.
    mutating func passTaskbar(_ id: UInt32, isIcon: Bool = false) {
        guard isComposited, painter != nil || hasUnreadManagers, mayBeSecure(id), let window = windows[id],
            !window.isMenu, let place = window.place
        else { return }
        let parents = window.iconPlace == nil ? secure.compactMap { windows[$0] } : []
        if window.hasIconMoved || parents.contains(where: \.hasIconMoved) {
            // Its new place is unknown until the next reading.
            pass(bounds, .passing(id))
            return
        }
        var icons = window.iconPlace.map { [$0] } ?? parents.compactMap(\.iconPlace)
        if isIcon, isOfMutter, window.iconPlace == nil {
            icons.append(CaptureRectangle(x: 0, y: 0, width: bounds.width, height: 1))
        }
        // KWin's Magic Lamp moves it from the pointer, or there.
        if icons.isEmpty, isIcon, !window.isNew { pass(bounds, .passing(id)) }
        for icon in icons {
            var way = place.joined(with: icon)
            if isOfMutter {
                // mutter moves the window's corner to the icon, and shrinks the window to its middle.
                way = way.joined(
                    with: CaptureRectangle(x: icon.x, y: icon.y, width: place.width, height: place.height))
            }
            if let way = way.intersection(bounds) { pass(way, .passing(id), isGuess: window.isNew) }
        }
    }
}
