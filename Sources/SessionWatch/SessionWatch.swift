internal import CSession

/// Follows the lock of a desktop session, as logind and the screen savers of the desktops tell it over D-Bus.
///
/// One thread.
@safe package final class SessionWatch {
    private let handle: OpaquePointer

    /// Connects to the buses that are there. Nil if there is none, or libsystemd is not installed: nothing is told of a
    /// session then, as on a machine without a desktop.
    package init?() {
        guard let opened = unsafe upcast_session_open() else { return nil }
        unsafe handle = opened
    }

    deinit { unsafe upcast_session_close(handle) }

    /// Readable when something may have changed since the last look; below 0 for a bus that is not there.
    package var descriptors: (system: CInt, user: CInt) {
        var (system, user): (CInt, CInt) = (-1, -1)
        unsafe upcast_session_descriptors(handle, &system, &user)
        return (system, user)
    }

    /// What is true now. Waits for nobody, but for logind's answer after a change, at most for a second.
    package func look() -> SessionState {
        var state = upcast_session_state()
        unsafe upcast_session_look(handle, &state)
        var result: SessionState = []
        if state.is_locked { result.insert(.locked) }
        if state.is_switched { result.insert(.switched) }
        if state.is_sleeping { result.insert(.sleeping) }
        if state.is_saver_on { result.insert(.screenSaver) }
        return result
    }
}
