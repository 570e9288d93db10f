internal import CGnuTLS
internal import CRTMPSocket
internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// A connected socket, plain or with TLS, in the shape that librtmp's replaced socket layer wants.
///
/// One thread uses it. Every call ends at `deadline`; the first failure stays, and every later call fails at once.
@safe final class RTMPSocket {
    private let descriptor: OwnedDescriptor
    private let control: PublishControl
    private let host: String
    private var tls: TLSSession?
    let raw: UnsafeMutablePointer<upcast_rtmp_socket>

    init(_ descriptor: consuming OwnedDescriptor, host: String, control: PublishControl) {
        unsafe raw = .allocate(capacity: 1)
        unsafe raw.initialize(to: upcast_rtmp_socket())
        unsafe raw.pointee.fd = descriptor.raw
        unsafe raw.pointee.control = control.raw
        unsafe raw.pointee.patience_ns = .max
        self.descriptor = descriptor
        self.control = control
        self.host = host
    }

    deinit { unsafe raw.deallocate() }

    /// A send that makes no progress for as long fails before `deadline`.
    var patience: MediaTime {
        get { MediaTime(nanoseconds: unsafe raw.pointee.patience_ns) }
        set { unsafe raw.pointee.patience_ns = newValue.nanoseconds }
    }
    var deadline: MediaTime {
        get { MediaTime(nanoseconds: unsafe raw.pointee.deadline_ns) }
        set { unsafe raw.pointee.deadline_ns = newValue.nanoseconds }
    }
    /// For whoever may break the connection; it must not be used once the socket is closed.
    var unsent: any UnsentMedia { TCPSendQueue(descriptor: descriptor.raw) }
    var bytesSent: UInt64 { unsafe raw.pointee.bytes_sent }
    var bytesReceived: UInt64 { unsafe raw.pointee.bytes_received }
    /// Calls of librtmp's that sent something.
    var sends: UInt64 { unsafe raw.pointee.sends }
    /// Bytes that wait in the kernel for room on the path; at most about `TCPConnector.sendBufferBytes`.
    var unsentBytes: Int { Int(upcast_tcp_unsent_bytes(descriptor.raw)) }
    /// Bytes that the server's kernel has not acknowledged, the unsent ones among them.
    var unacknowledgedBytes: Int { Int(upcast_tcp_unacknowledged_bytes(descriptor.raw)) }
    /// There is no connection any more: it has ended on both sides, or was reset.
    var isBroken: Bool { upcast_tcp_is_closed(descriptor.raw) != 0 }
    /// What the kernel has measured about the path; nil where it does not tell.
    var tcpInfo: TCPInfo? { TCPInfo(descriptor: descriptor.raw) }

    /// Bounds what the kernel keeps unsent, so that a slow link makes packets wait where they can still be left out,
    /// and not where they cannot (TCP_NOTSENT_LOWAT; `waitForRoom` is over at half of it).
    func limitUnsent(to bytes: Int) {
        var bytes = CInt(clamping: bytes)
        _ = unsafe setsockopt(
            descriptor.raw, CInt(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &bytes, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Waits until a packet would go out soon; false means that `deadline` has passed.
    func waitForRoom(until deadline: MediaTime) throws(PublishError) -> Bool {
        switch control.wait(for: POLLOUT, on: descriptor.raw, until: deadline) {
        case .ready: return true
        case .timeout: return false
        case .cancelled: throw PublishError(.cancelled, "waiting for the server was cancelled")
        }
    }

    /// "TLS1.3" and the like, nil on plain TCP.
    private(set) var tlsProtocol: String?

    /// Runs the TLS handshake until `deadline`; without authorities any certificate is accepted.
    func startTLS(authorities: TrustedAuthorities?) throws(PublishError) {
        let session = try TLSSession(descriptor: descriptor.raw, host: host, authorities: authorities)
        tls = session
        unsafe raw.pointee.tls = UnsafeMutableRawPointer(session.raw)
        guard unsafe upcast_rtmp_socket_handshake(raw) == 0 else { throw failure(during: "the TLS handshake") }
        tlsProtocol = session.protocolName
    }

    /// Reads what is there without waiting.
    ///
    /// - Returns: bytes read; 0 where there are none as yet.
    func receive(into buffer: inout [UInt8]) throws(PublishError) -> Int {
        let count = unsafe buffer.withUnsafeMutableBytes {
            unsafe upcast_rtmp_socket_receive(raw, $0.baseAddress, CInt($0.count))
        }
        guard count >= 0 else { throw failure(during: "reading from the server") }
        return Int(count)
    }

    /// Waits until there is something to read; false means that `deadline` has passed.
    func waitForInput(until deadline: MediaTime) throws(PublishError) -> Bool {
        switch control.wait(for: POLLIN, on: descriptor.raw, until: deadline) {
        case .ready: return true
        case .timeout: return false
        case .cancelled: throw PublishError(.cancelled, "waiting for the server was cancelled")
        }
    }

    /// Waits for nothing but `deadline`.
    func pause(until deadline: MediaTime) throws(PublishError) {
        guard case .cancelled = control.wait(for: 0, onAnyOf: [], until: deadline) else { return }
        throw PublishError(.cancelled, "waiting for the server was cancelled")
    }

    /// Tells a TLS peer that nothing more comes; waits for nothing but room to send until `deadline`.
    func bye() { unsafe upcast_rtmp_socket_bye(raw) }

    /// Ends the sending direction: the peer reads what was sent, then the end.
    func shutdownSending() { _ = Glibc.shutdown(descriptor.raw, CInt(SHUT_WR)) }

    /// Whether closing resets the connection: what the peer has not acknowledged is dropped, and it sees a break, not
    /// an end. It holds for the end of the process, too, however that comes.
    func setResetsOnClose(_ isOn: Bool) {
        var linger = linger(l_onoff: isOn ? 1 : 0, l_linger: 0)
        _ = unsafe setsockopt(descriptor.raw, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    /// The failure that made a call fail, with what was being done, such as "the RTMP handshake".
    ///
    /// - Parameter timeout: what it is called when the deadline passed.
    func failure(during what: String, timeout: PublishError.Kind = .handshakeTimeout) -> PublishError {
        switch unsafe raw.pointee.failure {
        case UPCAST_SOCKET_TIMEOUT: PublishError(timeout, "\(what) took too long")
        case UPCAST_SOCKET_CANCELLED: PublishError(.cancelled, "\(what) was cancelled")
        case UPCAST_SOCKET_CLOSED: PublishError(.closedByServer, "the server closed the connection during \(what)")
        case UPCAST_SOCKET_SYSTEM:
            PublishError(.connectionLost, "the connection broke during \(what): \(Errno(unsafe raw.pointee.code))")
        case UPCAST_SOCKET_TLS:
            tls?.error(unsafe raw.pointee.code, host: host) ?? PublishError(.tls, "TLS failed during \(what)")
        // librtmp gave up without the socket's having failed: only memory or a broken build can do that.
        default: PublishError(.system, "librtmp failed during \(what)")
        }
    }
}
