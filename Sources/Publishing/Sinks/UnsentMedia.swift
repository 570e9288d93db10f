internal import CRTMPSocket
internal import MediaCore

/// Bytes that a sink has accepted and the other side has not received. Any thread, until the sink is closed.
protocol UnsentMedia: Sendable {
    /// Whether some bytes wait in a buffer of the sink or the kernel, because they have not left this machine or were
    /// lost.
    var isWaiting: Bool { get }
    /// Whether the other side has received everything.
    var isAcknowledged: Bool { get }
    /// The progress of the other side; nil for sinks that cannot lose bytes.
    var delivery: Delivery? { get }
    /// Discards the bytes. Once this returns, none of them is sent. A write in progress and all later writes fail.
    func discard()
}

/// How much of the written bytes the other side has received.
struct Delivery: Equatable, Sendable {
    /// Bytes since the connection began.
    var acknowledged: UInt64
    var outstanding: Int
    /// The time since the other side last acknowledged anything.
    var silence: MediaTime
    /// Bytes that are unacknowledged for longer are probably lost, although the kernel has not sent them again yet.
    var patience: MediaTime
    /// Whether the kernel considers some bytes lost.
    var isSendingAgain: Bool

    var written: UInt64 { acknowledged + UInt64(outstanding) }
}

/// For sinks without a queue: written bytes cannot be taken back.
struct NothingUnsent: UnsentMedia {
    var isWaiting: Bool { false }
    var isAcknowledged: Bool { true }
    var delivery: Delivery? { nil }
    func discard() {}
}

/// The kernel's queue of a TCP connection, with or without TLS.
struct TCPSendQueue: UnsentMedia {
    let descriptor: CInt

    var isWaiting: Bool {
        upcast_tcp_unsent_bytes(descriptor) > 0 || (!isAcknowledged && upcast_tcp_is_sending_again(descriptor) != 0)
    }
    var isAcknowledged: Bool { upcast_tcp_unacknowledged_bytes(descriptor) == 0 }
    /// The kernel's timer also starts at the last acknowledgement. This margin makes our limit expire first.
    private static let headStart = MediaTime.milliseconds(100)

    var delivery: Delivery? {
        // In this order, bytes acknowledged in between are counted twice and none is missed.
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
