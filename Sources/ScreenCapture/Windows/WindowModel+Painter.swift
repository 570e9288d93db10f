internal import Grabbing
internal import UpcastClient

/// What a window manager that composites, or an input method, shows of secret windows beside their places.
extension WindowModel {
    /// Whether a window is secret because of what it shows of others. Managers also have windows beside the screen, and
    /// such as cover all of it.
    func isSecretForOthers(_ window: Window) -> Bool {
        guard window.mayShowSecrets, let place = window.place?.intersection(bounds) else { return false }
        return place != bounds
    }

    /// Whether windows may be anywhere on the screen: the manager takes all input, as for an overview of windows, or
    /// shows the desktop. KWin moves windows back before it says that it does not show the desktop any more.
    var placesAreUnknown: Bool {
        guard isComposited, let painter, !secure.isEmpty else { return false }
        return showsDesktop && showsSecret || inputTakers.contains { $1 == painter && takesAllInput($0) }
    }

    /// xfwm4 takes all input for a menu, too, which is above.
    private func takesAllInput(_ id: UInt32) -> Bool {
        guard let window = windows[id], window.isMapped, window.place?.intersection(bounds) == bounds else {
            return false
        }
        return !stack.above(id).contains { isViewable($0) }
    }

    /// Whether the manager is of mutter's family, such as GNOME Shell: they show windows elsewhere, and nothing tells
    /// when.
    var isOfMutter: Bool { painter != nil && guardWindow.flatMap { windows[$0]?.isMapped } ?? false }

    /// The manager shows another virtual desktop, or hides all windows or shows them again. Windows may move across the
    /// screen meanwhile.
    mutating func desktopChanged() { if isComposited { (hasUnreadManagers, hasUnreadDesktop) = (true, true) } }

    /// Notes what is known of the manager since it was read.
    mutating func noteDesktop(hadSecrets: Bool) {
        if hasUnreadDesktop, painter != nil, hadSecrets || !secure.isEmpty { pass(bounds) }
        (hasUnreadManagers, hasUnreadDesktop) = (false, false)
    }

    /// A window that may be secret comes from the taskbar, or goes there: managers show it on its way. Dialogs go where
    /// their window goes.
    mutating func passTaskbar(_ id: UInt32) {
        guard isComposited, painter != nil || hasUnreadManagers, mayBeSecure(id), let window = windows[id],
            !window.isMenu, let place = window.place
        else { return }
        var icons = window.iconPlace.map { [$0] } ?? []
        if icons.isEmpty { icons = secure.compactMap { windows[$0]?.iconPlace } }
        for icon in icons { if let way = place.joined(with: icon).intersection(bounds) { pass(way) } }
    }
}
