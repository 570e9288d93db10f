package import Endpoints
package import LinuxSystem
package import MediaCore

/// A TCP or TLS connection to a server that does not speak RTMP. It connects, keeps deadlines and checks certificates
/// as destinations do.
///
/// One thread uses it. Each call ends at the deadline of `init`, or when `control` is cancelled.
package final class ServerConnection {
    /// Which server, and how to reach it.
    package struct Target: Sendable {
        package var host: String
        package var port: UInt16
        package var isSecure: Bool
        /// Trusted certificates (PEM) in place of the system's.
        package var caFile: String?
        /// Which resolved addresses may be connected to.
        package var policy: AddressPolicy

        package init(host: String, port: UInt16, isSecure: Bool, caFile: String?, policy: AddressPolicy) {
            (self.host, self.port, self.isSecure) = (host, port, isSecure)
            (self.caFile, self.policy) = (caFile, policy)
        }
    }

    private let socket: RTMPSocket
    private let clock: any TimeSource
    private let deadline: MediaTime

    /// An address that does not answer for this long is given up; others are tried beside it.
    private static let addressTimeout = MediaTime.seconds(5)

    /// Resolves the name, connects to an address that the policy allows, and runs the TLS handshake.
    ///
    /// - Throws: `rejected` if the policy allows none of the addresses.
    package init(
        to target: Target, control: PublishControl, clock: any TimeSource, until deadline: MediaTime
    ) throws(PublishError) {
        (self.clock, self.deadline) = (clock, deadline)
        let found = try HostResolver.addresses(
            of: target.host, port: target.port, control: control, until: deadline)
        let connector = TCPConnector(addressTimeout: Self.addressTimeout, clock: clock, control: control)
        let allowed = try Self.allowed(found, for: target)
        let descriptor = try connector.connect(to: SocketAddress.alternating(allowed), until: deadline)
        socket = RTMPSocket(descriptor, host: target.host, control: control)
        socket.limit(to: deadline)
        if target.isSecure { try socket.startTLS(authorities: TrustedAuthorities(caFile: target.caFile)) }
    }

    private static func allowed(
        _ addresses: [SocketAddress], for target: Target
    ) throws(PublishError) -> [SocketAddress] {
        var refusals: [String] = []
        let allowed = addresses.filter { address in
            guard let ip = address.ip else { return false }
            guard let kind = target.policy.refusal(of: ip, for: target.host) else { return true }
            refusals.append("\(address) is \(kind)")
            return false
        }
        guard allowed.isEmpty else { return allowed }
        throw PublishError(.rejected, "no allowed address: \(refusals.joined(separator: ", "))")
    }

    package func send(_ bytes: [UInt8]) throws(PublishError) { try socket.send(bytes) }

    /// Waits for bytes, and reads those that have arrived.
    ///
    /// - Parameter limit: an earlier deadline for this call.
    /// - Returns: the number of bytes; 0 at the end of what the server sends.
    package func receive(into buffer: inout [UInt8], until limit: MediaTime? = nil) throws(PublishError) -> Int {
        let end = min(deadline, limit ?? deadline)
        while true {
            do throws(PublishError) {
                let count = try socket.receive(into: &buffer)
                if count > 0 { return count }
            } catch {
                guard error.cause == .closedByServer else { throw error }
                return 0
            }
            guard try socket.waitForInput(until: end) else {
                throw PublishError(.handshakeTimeout, "the server did not answer in time")
            }
        }
    }

    /// Tells the server that nothing more follows. The socket is closed when this object is freed.
    package func finish() {
        socket.limit(to: min(deadline, clock.now() + .milliseconds(200)))
        socket.bye()
        socket.shutdownSending()
    }
}
