/// Dialogs that are secret because their parent window is. Pure.
///
/// A dialog may outlive its parent. Nothing then tells whose dialog it was, so it stays secret as long as it exists.
struct SecretDialogs: Sendable {
    /// The parent of each dialog, by the dialog's client window.
    private var parents: [UInt32: UInt32] = [:]
    /// Dialogs whose parent is gone.
    private var orphans: Set<UInt32> = []
    /// Windows that may have been secret, and their window groups, that have gone since all windows were last known. A
    /// dialog of theirs may still be unread.
    private var gone: Set<UInt32> = []
    /// `gone` was full, so that a window was not added.
    private var hasForgotten = false
    private static let maxGone = 4096

    /// Notes that a dialog belongs to a secret window.
    mutating func note(_ dialog: UInt32, of parent: UInt32) {
        if !orphans.contains(dialog), parents[dialog] == nil { parents[dialog] = parent }
    }

    /// Notes that a dialog belongs to a secret window that is gone.
    mutating func noteOrphan(_ dialog: UInt32) {
        orphans.insert(dialog)
        parents[dialog] = nil
    }

    /// Notes that a window that may be secret is gone. It may have been the last window of its group.
    mutating func noteGone(_ window: UInt32, group: UInt32?) {
        guard gone.count < Self.maxGone else { return hasForgotten = true }
        gone.insert(window)
        if let group { gone.insert(group) }
    }

    /// Notes a new window, which may have the number of a window that is gone.
    mutating func came(_ window: UInt32) { gone.remove(window) }

    /// Call it when all windows are known: then all dialogs of windows that are gone are known, too.
    mutating func forgetGone() {
        gone.removeAll()
        hasForgotten = false
    }

    /// Whether a missing window may have been secret, or a group may have had a secret window. True for any if `gone`
    /// was full.
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

    /// Forgets dialogs whose parents are known, and not secret any more.
    mutating func forget(where isHarmless: (UInt32) -> Bool) { parents = parents.filter { !isHarmless($0.value) } }
}
