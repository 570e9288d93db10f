internal import CSession

/// Follows the lock of a desktop session, which logind and the desktops' screen savers report over D-Bus.
///
/// One thread.
@safe package final class SessionWatch {
    private let handle: OpaquePointer
    /// How long a bus may take until it accepts requests.
    private static let patienceMilliseconds: CInt = 2000
    /// The service that does not answer, in words for the user; nil for none. This watch then gets no more news: open
    /// another.
    package private(set) var silent: String?

    /// Connects to the buses that exist, and waits some seconds for them at most. Nil if there is none, or libsystemd
    /// is not installed: nothing is known of a session then, as on a machine without a desktop.
    ///
    /// - Parameter stop: a descriptor; once it is readable, waiting for a bus ends.
    package init?(stop: CInt) {
        guard let opened = unsafe upcast_session_open(stop, Self.patienceMilliseconds) else { return nil }
        unsafe handle = opened
    }

    deinit { unsafe upcast_session_close(handle) }

    /// Readable when something may have changed since the last look; below 0 for a bus that is not there.
    package var descriptors: (system: CInt, user: CInt) {
        var (system, user): (CInt, CInt) = (-1, -1)
        unsafe upcast_session_descriptors(handle, &system, &user)
        return (system, user)
    }

    /// The state now. Waits only for logind's answers after a change, and for a screen saver that has begun, at most a
    /// second for each.
    package func look() -> SessionState {
        var state = upcast_session_state()
        unsafe upcast_session_look(handle, &state)
        var result: SessionState = []
        if state.is_locked { result.insert(.locked) }
        if state.is_switched { result.insert(.switched) }
        if state.is_sleeping { result.insert(.sleeping) }
        if state.is_saver_on { result.insert(.screenSaver) }
        if let name = unsafe upcast_session_silent(handle) {
            silent = unsafe String(cString: name)
            result.insert(.unknown)
        }
        return result
    }
}
