internal import CSession

/// Asks GNOME Shell over D-Bus whether it shows its overview, in which it draws windows elsewhere.
///
/// One thread.
@safe package final class ShellWatch {
    private let handle: OpaquePointer

    /// Nil without memory.
    package init?() {
        guard let opened = unsafe upcast_shell_open() else { return nil }
        unsafe handle = opened
    }

    deinit { unsafe upcast_shell_close(handle) }

    /// Whether the overview is visible; also true if there is no answer within a quarter of a second, or an error. Nil
    /// if GNOME Shell does not run, or cannot be asked.
    package func showsOverview() -> Bool? {
        let answer = unsafe upcast_shell_overview(handle)
        return answer < 0 ? nil : answer > 0
    }
}
