internal import CRTMPSocket

/// What a sink has accepted and the other side has not got. Any thread, until the sink is closed.
protocol UnsentMedia: Sendable {
    /// Some of it has not left this machine, or was lost on its way: it waits in a buffer of the sink's or the
    /// kernel's.
    var isWaiting: Bool { get }
    /// The other side has got everything; nothing that is waiting, on its way or lost is left to send.
    var isAcknowledged: Bool { get }
    /// Throws it away: once this returns, nothing of it is sent. A write that is in progress fails, and so does each
    /// one that follows.
    func discard()
}

/// For sinks that keep nothing back: what was written has gone out.
struct NothingUnsent: UnsentMedia {
    var isWaiting: Bool { false }
    var isAcknowledged: Bool { true }
    func discard() {}
}

/// What the kernel holds of a TCP connection, with or without TLS.
struct TCPSendQueue: UnsentMedia {
    let descriptor: CInt

    var isWaiting: Bool {
        upcast_tcp_unsent_bytes(descriptor) > 0 || (!isAcknowledged && upcast_tcp_is_sending_again(descriptor) != 0)
    }
    var isAcknowledged: Bool { upcast_tcp_unacknowledged_bytes(descriptor) == 0 }
    func discard() { upcast_tcp_disconnect(descriptor) }
}
