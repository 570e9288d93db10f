internal import CGnuTLS
internal import CRTMPSocket
internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// A connected socket with or without TLS, behind librtmp's replaced socket functions.
///
/// One thread uses it. Each call ends at its limit (`limit(to:)`). After the first failure, all calls fail at once.
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

    /// A send that makes no progress for this long fails before the limit.
    var patience: MediaTime {
        get { MediaTime(nanoseconds: unsafe raw.pointee.patience_ns) }
        set { unsafe raw.pointee.patience_ns = newValue.nanoseconds }
    }
    /// Sets when each call ends, by the clock of the control.
    func limit(to deadline: MediaTime) { unsafe raw.pointee.deadline_ns = control.kernelDeadline(deadline) }
    /// The cause of a call that takes too long.
    var timeoutCause = FailureCause.handshakeTimeout
    /// Returns for how long the process did not run while calls waited, since the last call of this method.
    func takeLost() -> MediaTime {
        defer { unsafe raw.pointee.lost_ns = 0 }
        return MediaTime(nanoseconds: unsafe raw.pointee.lost_ns)
    }
    /// For other threads that may break the connection. It must not be used once the socket is closed.
    var unsent: any UnsentMedia { TCPSendQueue(descriptor: descriptor.raw) }
    var bytesSent: UInt64 { unsafe raw.pointee.bytes_sent }
    var bytesReceived: UInt64 { unsafe raw.pointee.bytes_received }
    /// The number of librtmp's calls that sent bytes.
    var sends: UInt64 { unsafe raw.pointee.sends }
    /// Unsent bytes in the kernel; at most about `TCPConnector.sendBufferBytes`.
    var unsentBytes: Int { Int(upcast_tcp_unsent_bytes(descriptor.raw)) }
    /// Bytes that the server's kernel has not acknowledged, including unsent ones.
    var unacknowledgedBytes: Int { Int(upcast_tcp_unacknowledged_bytes(descriptor.raw)) }
    /// Whether the connection has ended on both sides or was reset.
    var isBroken: Bool { upcast_tcp_is_closed(descriptor.raw) != 0 }
    /// The kernel's measurements of the path; nil if it provides none.
    var tcpInfo: TCPInfo? { TCPInfo(descriptor: descriptor.raw) }

    /// Limits the kernel's unsent bytes (TCP_NOTSENT_LOWAT), so that packets for a slow link wait in the log, where
    /// they can be shed. `waitForRoom` returns at half of the limit.
    func limitUnsent(to bytes: Int) {
        var bytes = CInt(clamping: bytes)
        _ = unsafe setsockopt(
            descriptor.raw, CInt(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &bytes, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Waits until a packet would leave soon. Returns false after `deadline`.
    func waitForRoom(until deadline: MediaTime) throws(PublishError) -> Bool {
        switch control.wait(for: POLLOUT, on: descriptor.raw, until: deadline) {
        case .ready: return true
        case .timeout: return false
        case .cancelled: throw PublishError(.cancelled, "waiting for the server was cancelled")
        }
    }

    /// For example "TLS1.3"; nil on plain TCP.
    private(set) var tlsProtocol: String?

    /// Runs the TLS handshake until the limit. Without authorities it accepts any certificate.
    func startTLS(authorities: TrustedAuthorities?) throws(PublishError) {
        let session = try TLSSession(descriptor: descriptor.raw, host: host, authorities: authorities)
        tls = session
        unsafe raw.pointee.tls = UnsafeMutableRawPointer(session.raw)
        guard unsafe upcast_rtmp_socket_handshake(raw) == 0 else { throw failure(during: "the TLS handshake") }
        tlsProtocol = session.protocolName
    }

    /// Reads available bytes without waiting.
    ///
    /// - Returns: the number of bytes; 0 if none are available.
    func receive(into buffer: inout [UInt8]) throws(PublishError) -> Int {
        let count = unsafe buffer.withUnsafeMutableBytes {
            unsafe upcast_rtmp_socket_receive(raw, $0.baseAddress, CInt($0.count))
        }
        guard count >= 0 else { throw failure(during: "reading from the server") }
        return Int(count)
    }

    /// Sends all bytes until the limit.
    func send(_ bytes: [UInt8]) throws(PublishError) {
        let result = unsafe bytes.withUnsafeBytes { buffer in
            unsafe upcast_rtmp_socket_send(raw, buffer.baseAddress, CInt(buffer.count))
        }
        guard result == 0 else { throw failure(during: "sending to the server") }
    }

    /// Waits until bytes can be read. Returns false after `deadline`.
    func waitForInput(until deadline: MediaTime) throws(PublishError) -> Bool {
        switch control.wait(for: POLLIN, on: descriptor.raw, until: deadline) {
        case .ready: return true
        case .timeout: return false
        case .cancelled: throw PublishError(.cancelled, "waiting for the server was cancelled")
        }
    }

    /// Waits until `deadline`.
    func pause(until deadline: MediaTime) throws(PublishError) {
        guard case .cancelled = control.wait(for: 0, onAnyOf: [], until: deadline) else { return }
        throw PublishError(.cancelled, "waiting for the server was cancelled")
    }

    /// Sends the TLS close notification; waits at most until the limit for room to send it.
    func bye() { unsafe upcast_rtmp_socket_bye(raw) }

    /// Closes the sending direction. The peer reads all sent bytes, then the end.
    func shutdownSending() { _ = Glibc.shutdown(descriptor.raw, CInt(SHUT_WR)) }

    /// Sets whether closing resets the connection: the kernel drops unacknowledged bytes, and the peer sees a reset and
    /// no end. This also applies when the process ends for any reason.
    func setResetsOnClose(_ isOn: Bool) {
        var linger = linger(l_onoff: isOn ? 1 : 0, l_linger: 0)
        _ = unsafe setsockopt(descriptor.raw, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    /// Describes the recorded failure of a call.
    ///
    /// - Parameter what: the step that failed, such as "the RTMP handshake".
    func failure(during what: String) -> PublishError {
        switch unsafe raw.pointee.failure {
        case UPCAST_SOCKET_TIMEOUT: PublishError(timeoutCause, "\(what) took too long")
        case UPCAST_SOCKET_CANCELLED: PublishError(.cancelled, "\(what) was cancelled")
        case UPCAST_SOCKET_CLOSED: PublishError(.closedByServer, "the server closed the connection during \(what)")
        case UPCAST_SOCKET_SYSTEM:
            PublishError(.connectionLost, "the connection broke during \(what): \(Errno(unsafe raw.pointee.code))")
        case UPCAST_SOCKET_TLS:
            tls?.error(unsafe raw.pointee.code, host: host) ?? PublishError(.tls, "TLS failed during \(what)")
        // librtmp gave up, but the socket did not fail. Only lack of memory or a broken build can cause this.
        default: PublishError(.system, "librtmp failed during \(what)")
        }
    }
}
