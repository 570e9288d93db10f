internal import CRTMPSocket
internal import MediaCore

/// What the kernel has measured about a connection's path (TCP_INFO).
struct TCPInfo: Equatable, Sendable {
    /// The shortest round trip of the last minutes: the path without queues.
    var minimumRoundTrip: MediaTime
    /// Bytes that have arrived behind one that was lost, and that SIOCOUTQ still counts as outstanding.
    var selectivelyAcknowledgedBytes: Int

    /// Nil where the kernel does not tell.
    init?(descriptor: CInt) {
        var info = upcast_tcp_info()
        guard unsafe upcast_tcp_read_info(descriptor, &info) == 0 else { return nil }
        minimumRoundTrip = .microseconds(Int64(info.min_rtt_us))
        selectivelyAcknowledgedBytes = Int(clamping: info.selectively_acknowledged)
    }
}
