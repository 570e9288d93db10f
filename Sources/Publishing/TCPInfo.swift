internal import CRTMPSocket

/// What the kernel has measured about a connection's path (TCP_INFO).
struct TCPInfo: Equatable, Sendable {
    /// Smoothed round trip, in microseconds.
    var roundTripMicroseconds: Int
    /// The shortest round trip of the last minutes, in microseconds: the path without queues.
    var minimumRoundTripMicroseconds: Int
    /// Segments sent again since the connection was made.
    var retransmits: Int
    /// Bytes a second that the peer acknowledged lately; 0 before the first measurement.
    var deliveryRate: Int
    /// The rate was bounded by what there was to send, so that the path may carry more.
    var isApplicationLimited: Bool

    /// Nil where the kernel does not tell.
    init?(descriptor: CInt) {
        var info = upcast_tcp_info()
        guard unsafe upcast_tcp_read_info(descriptor, &info) == 0 else { return nil }
        roundTripMicroseconds = Int(info.rtt_us)
        minimumRoundTripMicroseconds = Int(info.min_rtt_us)
        retransmits = Int(info.total_retransmits)
        deliveryRate = Int(clamping: info.delivery_rate)
        isApplicationLimited = info.is_application_limited != 0
    }
}
