internal import CRTMPSocket
internal import MediaCore

/// The kernel's measurements of a connection's path (TCP_INFO).
struct TCPInfo: Equatable, Sendable {
    /// The shortest round trip of the last minutes, that of the path without queues.
    var minimumRoundTrip: MediaTime
    /// Bytes that arrived after a lost segment. SIOCOUTQ still counts them as outstanding.
    var selectivelyAcknowledgedBytes: Int

    /// Nil if the kernel provides no information.
    init?(descriptor: CInt) {
        var info = upcast_tcp_info()
        guard unsafe upcast_tcp_read_info(descriptor, &info) == 0 else { return nil }
        minimumRoundTrip = .microseconds(Int64(info.min_rtt_us))
        selectivelyAcknowledgedBytes = Int(clamping: info.selectively_acknowledged)
    }
}
