internal import CRTMPSocket
internal import MediaCore

/// What a sink has accepted and the other side has not got. Any thread, until the sink is closed.
protocol UnsentMedia: Sendable {
    /// Some of it has not left this machine, or was lost on its way: it waits in a buffer of the sink's or the
    /// kernel's.
    var isWaiting: Bool { get }
    /// The other side has got everything; nothing that is waiting, on its way or lost is left to send.
    var isAcknowledged: Bool { get }
    /// How far the other side has got; nil for sinks that nothing is lost behind.
    var delivery: Delivery? { get }
    /// Throws it away: once this returns, nothing of it is sent. A write that is in progress fails, and so does each
    /// one that follows.
    func discard()
}

/// How far the other side has got with what was written.
struct Delivery: Equatable, Sendable {
    /// Bytes since the connection began.
    var acknowledged: UInt64
    var outstanding: Int
    /// Since the other side last acknowledged anything.
    var silence: MediaTime
    /// What is not acknowledged for longer is probably lost; the kernel has not sent it again as yet.
    var patience: MediaTime
    /// The kernel takes some of it for lost.
    var isSendingAgain: Bool

    var written: UInt64 { acknowledged + UInt64(outstanding) }
}

/// For sinks that keep nothing back: what was written has gone out.
struct NothingUnsent: UnsentMedia {
    var isWaiting: Bool { false }
    var isAcknowledged: Bool { true }
    var delivery: Delivery? { nil }
    func discard() {}
}

/// What the kernel holds of a TCP connection, with or without TLS.
struct TCPSendQueue: UnsentMedia {
    let descriptor: CInt

    var isWaiting: Bool {
        upcast_tcp_unsent_bytes(descriptor) > 0 || (!isAcknowledged && upcast_tcp_is_sending_again(descriptor) != 0)
    }
    var isAcknowledged: Bool { upcast_tcp_unacknowledged_bytes(descriptor) == 0 }
    /// The kernel counts from the last acknowledgement as well, so that this is over before its own time is.
    private static let headStart = MediaTime.milliseconds(100)

    var delivery: Delivery? {
        // In this order: what is acknowledged in between is counted twice, and nothing is left out.
        let outstanding = Int(upcast_tcp_unacknowledged_bytes(descriptor))
        var info = upcast_tcp_info()
        guard unsafe upcast_tcp_read_info(descriptor, &info) == 0 else { return nil }
        let timeout = Int64(info.retransmission_timeout_us)
        return Delivery(
            acknowledged: info.acknowledged, outstanding: outstanding, silence: .milliseconds(Int64(info.silent_ms)),
            patience: max(.microseconds(timeout) - Self.headStart, .microseconds(timeout / 2)),
            isSendingAgain: outstanding > 0 && upcast_tcp_is_sending_again(descriptor) != 0)
    }
    func discard() { upcast_tcp_disconnect(descriptor) }
}
