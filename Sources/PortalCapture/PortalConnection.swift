internal import CPortal
package import Grabbing
internal import LinuxSystem
internal import MediaCore

/// A connection to the ScreenCast portal of the user's session. One thread at a time.
@safe package final class PortalConnection {
    private let handle: OpaquePointer
    private let clock = MonotonicClock()
    /// How long a portal may take to complete a request that does not ask the user.
    private static let patience = MediaTime.seconds(25)

    /// - Throws: an error that says what is missing, and how to get it.
    package init() throws(ScreenError) {
        var error: CInt = 0
        guard let opened = unsafe upcast_portal_open(&error) else { throw Self.failure(error) }
        unsafe handle = opened
    }

    deinit { unsafe upcast_portal_close(handle) }

    private static func failure(_ error: CInt) -> ScreenError {
        switch UInt32(bitPattern: error) {
        case UPCAST_PORTAL_NO_LIBRARY.rawValue:
            ScreenError("the library libsystemd is not installed; on Debian: apt-get install libsystemd0")
        case UPCAST_PORTAL_NO_BUS.rawValue:
            ScreenError(
                "cannot connect to the D-Bus bus of the session, on which the ScreenCast portal is: "
                    + "DBUS_SESSION_BUS_ADDRESS has to name it", isTemporary: true)
        case UPCAST_PORTAL_SILENT_BUS.rawValue:
            ScreenError(
                "the D-Bus daemon of the session, over which the desktop is asked what to share, does not answer: it "
                    + "is stopped, or hangs; log in again, or restart it", isTemporary: true)
        default: ScreenError("there is no memory for a connection to the ScreenCast portal")
        }
    }

    // MARK: Questions

    /// The request has no answer, because the caller was told to stop.
    package struct Interrupted: Error {}

    /// What the portal offers.
    ///
    /// - Parameters:
    ///   - stop: a descriptor that interrupts the wait; nil for none.
    ///   - isStopped: called when `stop` is readable.
    package func facts(stop: CInt? = nil, _ isStopped: () -> Bool = { true }) throws -> PortalFacts {
        unsafe upcast_portal_ask_facts(handle)
        try finish(.facts, Self.patience, stop, isStopped) {}
        let state = unsafe upcast_portal_look(handle).pointee
        return PortalFacts(
            version: Int(state.version), sources: PortalFacts.Sources(rawValue: state.sources),
            pointers: PortalFacts.PointerModes(rawValue: state.pointers))
    }

    /// The stream that the user has granted.
    struct Grant {
        var node: UInt32
        /// The connection to PipeWire, which the caller owns.
        var remote: CInt
    }

    /// Asks for a screen. The portal may ask the user.
    ///
    /// - Parameters:
    ///   - token: the token of an earlier permission.
    ///   - patience: how long the user may take.
    ///   - asking: called when the answer takes so long that the user must have been asked.
    ///   - keep: called when the user has chosen, with the next token, or nil if there is none.
    func share(
        _ wish: PortalWish, token: String?, patience: MediaTime, stop: CInt?, _ isStopped: () -> Bool,
        asking: () -> Void, keep: (_ token: String?) -> Void
    ) throws -> Grant {
        unsafe upcast_portal_create_session(handle)
        try finish(.session, Self.patience, stop, isStopped) {}
        let pointer = wish.pointer?.rawValue ?? 0
        if let token, wish.isPersistent {
            unsafe upcast_portal_select(handle, wish.sources.rawValue, pointer, true, token)
        } else {
            unsafe upcast_portal_select(handle, wish.sources.rawValue, pointer, wish.isPersistent, nil)
        }
        try finish(.selection, Self.patience, stop, isStopped) {}
        unsafe upcast_portal_start(handle)
        try finish(.start, patience, stop, isStopped, asking)
        let state = unsafe upcast_portal_look(handle).pointee
        // Keep the new token before anything else can fail: the old one has been used up.
        let granted = text(state.token)
        keep(granted.isEmpty ? nil : granted)
        guard state.has_stream else {
            throw ScreenError("the ScreenCast portal has granted nothing that could be captured", isTemporary: true)
        }
        let node = state.node
        unsafe upcast_portal_open_remote(handle)
        try finish(.remote, Self.patience, stop, isStopped) {}
        return Grant(node: node, remote: unsafe upcast_portal_take_remote(handle))
    }

    /// Waits for the answer to a request.
    private func finish(
        _ step: PortalStep, _ patience: MediaTime, _ stop: CInt?, _ isStopped: () -> Bool, _ asking: () -> Void
    ) throws {
        let begin = clock.now()
        var hasTold = false
        while true {
            try process()
            let state = unsafe upcast_portal_look(handle).pointee
            switch state.stage {
            case UPCAST_PORTAL_ANSWERED: return try PortalAnswer.response(code: state.response).check(step)
            case UPCAST_PORTAL_FAILED:
                return try PortalAnswer.error(name: text(state.error_name), text: text(state.error_text)).check(step)
            default: break
            }
            if state.is_closed || state.is_gone {
                throw ScreenError("the ScreenCast portal has ended while it was asked", isTemporary: true)
            }
            let waited = clock.now() - begin
            guard waited < patience else {
                guard step == .start else {
                    return try PortalAnswer.error(name: "org.freedesktop.DBus.Error.NoReply", text: "").check(step)
                }
                throw SharingRefused(
                    "nobody has answered the dialogue of the desktop, which asks what to share, within "
                        + "\(patience.milliseconds / 60_000) minutes; start upcast-screen again")
            }
            if !hasTold, waited >= .seconds(1) {
                asking()
                hasTold = true
            }
            var wait = GrabWait(orders: stop ?? -1, now: clock.now())
            note(in: &wait)
            wait.note(atMost: hasTold ? .seconds(30) : .milliseconds(200))
            if wait.wait(), isStopped() { throw Interrupted() }
        }
    }

    // MARK: The session

    /// Adds the events after which `process` has work.
    func note(in wait: inout GrabWait) {
        wait.note(unsafe upcast_portal_descriptor(handle), events: unsafe upcast_portal_events(handle))
        let milliseconds = unsafe upcast_portal_milliseconds(handle)
        if milliseconds >= 0 { wait.note(atMost: .milliseconds(Int64(milliseconds))) }
    }

    /// Waits until the bus has delivered what was sent before. False if it does not answer.
    func catchUp() -> Bool { unsafe upcast_portal_catch_up(handle) }

    /// Handles what has arrived.
    func process() throws {
        guard unsafe upcast_portal_process(handle) else {
            throw ScreenError("the D-Bus bus of the session has ended", isTemporary: true)
        }
    }

    func askForSession() { unsafe upcast_portal_look_for_session(handle) }
    func endSession() { unsafe upcast_portal_end_session(handle) }

    /// Adds what the portal has reported about the session.
    func note(_ signs: inout SharingEnd.Signs) {
        let state = unsafe upcast_portal_look(handle).pointee
        signs.isClosed = state.is_closed
        if state.is_gone { signs.isPortalGone = true }
        switch state.presence {
        case UPCAST_PORTAL_THERE: signs.hasSession = true
        case UPCAST_PORTAL_NOT_THERE: signs.hasSession = false
        default: signs.hasSession = nil
        }
    }
}

/// The text up to the first 0.
func text<Array>(_ array: Array) -> String {
    unsafe withUnsafeBytes(of: array) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
