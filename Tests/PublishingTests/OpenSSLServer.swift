import Buffering
import Glibc
import LinuxSystem
import MediaCore
@testable import Publishing
import TestSupport
import Testing

/// openssl s_server, with any key, any group and any stapled response.
final class OpenSSLServer {
    let port: UInt16
    private let process: ChildProcess

    /// - Parameters:
    ///   - files: certificate and key (PEM).
    ///   - arguments: further arguments of s_server.
    init(certificate: String, key: String, _ arguments: [String]) throws {
        port = try Loopback.freePort()
        let files = ["-cert", certificate, "-key", key]
        process = try ChildProcess(
            "openssl", ["s_server", "-quiet", "-accept", "127.0.0.1:\(port)"] + files + arguments)
        try Loopback.waitForUntriedListener(at: port)
    }
}

/// One TLS handshake on this thread, with its computation time.
struct MeasuredHandshake {
    let error: PublishError?
    let protocolName: String?
    /// Of this thread only, without the machine's other work.
    let computation: MediaTime

    /// - Parameter caFile: nil accepts any certificate.
    init(port: UInt16, caFile: String?) throws {
        let descriptor = try OwnedDescriptor(
            checking: Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        try #require(Loopback.connect(descriptor.raw, to: port))
        _ = fcntl(descriptor.raw, F_SETFL, O_NONBLOCK)
        let authorities = try caFile.map { try TrustedAuthorities(caFile: $0) }
        let socket = RTMPSocket(descriptor, host: "localhost", control: try PublishControl(clock: MonotonicClock()))
        socket.limit(to: MonotonicClock().now() + .seconds(60))
        let begin = Self.threadTime()
        do {
            try socket.startTLS(authorities: authorities)
            error = nil
        } catch {
            self.error = error
        }
        computation = Self.threadTime() - begin
        protocolName = socket.tlsProtocol
    }

    private static func threadTime() -> MediaTime {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return MediaTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
