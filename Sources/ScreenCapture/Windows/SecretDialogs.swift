/// Dialogs that are secret because of the window that they belong to. Pure.
///
/// A dialog may outlive that window, and nothing tells then whose it was: it stays secret while it lives.
struct SecretDialogs: Sendable {
    /// By the client window of a dialog: the window that it belongs to.
    private var parents: [UInt32: UInt32] = [:]
    /// Those whose parent was destroyed.
    private var orphans: Set<UInt32> = []

    /// A dialog belongs to a secret window.
    mutating func note(_ dialog: UInt32, of parent: UInt32) {
        if !orphans.contains(dialog), parents[dialog] == nil { parents[dialog] = parent }
    }

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
