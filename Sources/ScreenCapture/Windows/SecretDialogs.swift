/// Dialogs that are secret because of the window that they belong to. Pure.
///
/// A dialog may outlive that window, and nothing tells then whose it was: it stays secret while it lives.
struct SecretDialogs: Sendable {
    /// By the client window of a dialog: the window that it belongs to.
    private var parents: [UInt32: UInt32] = [:]
    /// Those whose parent was destroyed.
    private var orphans: Set<UInt32> = []
    /// Windows that may have been secret, and are gone since all windows were known; and their groups. A dialog of one
    /// may not be known yet.
    private var gone: Set<UInt32> = []
    /// Windows were too many to be remembered there.
    private var hasForgotten = false
    private static let maxGone = 4096

    /// A dialog belongs to a secret window.
    mutating func note(_ dialog: UInt32, of parent: UInt32) {
        if !orphans.contains(dialog), parents[dialog] == nil { parents[dialog] = parent }
    }

    /// A dialog belongs to a secret window that is gone.
    mutating func noteOrphan(_ dialog: UInt32) {
        orphans.insert(dialog)
        parents[dialog] = nil
    }

    /// A window that may be secret is gone, and perhaps the last one of its group.
    mutating func noteGone(_ window: UInt32, group: UInt32?) {
        guard gone.count < Self.maxGone else { return hasForgotten = true }
        gone.insert(window)
        if let group { gone.insert(group) }
    }

    /// Another window may have the number of one that is gone.
    mutating func came(_ window: UInt32) { gone.remove(window) }

    /// All windows are known.
    mutating func forgetGone() {
        gone.removeAll()
        hasForgotten = false
    }

    /// Whether a window that is not there may have been a secret one, or a group may have had one: any may if too many
    /// are gone.
    func wasSecret(_ window: UInt32) -> Bool { hasForgotten || gone.contains(window) }

    mutating func destroyed(_ window: UInt32) {
        orphans.remove(window)
        parents[window] = nil
        for (dialog, parent) in parents where parent == window {
            parents[dialog] = nil
            orphans.insert(dialog)
        }
    }

    /// Whether a dialog was secret and still is.
    ///
    /// - Parameter isHarmless: whether its parent is known, and not secret any more.
    func contains(_ dialog: UInt32, isHarmless: (UInt32) -> Bool) -> Bool {
        orphans.contains(dialog) || parents[dialog].map { !isHarmless($0) } ?? false
    }

    /// Forgets dialogs of windows that are known, and not secret any more.
    mutating func forget(where isHarmless: (UInt32) -> Bool) { parents = parents.filter { !isHarmless($0.value) } }
}
