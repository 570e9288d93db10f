import Buffering
import Endpoints
import LinuxSystem
import MediaCore
@testable import Publishing
import TestSupport
import Testing

/// Which certificates are accepted, and the errors for those that are not.
@Suite(.enabled(if: StunnelServer.isInstalled), .serialized) struct TLSCertificateTests {
    private func run(
        port: UInt16, host: String = "localhost", _ change: (inout RTMPDestinationSettings) -> Void = { _ in }
    ) throws -> DestinationRun {
        var rtmp = RTMPDestinationSettings(
            endpoint: try RTMPEndpoint("rtmps://\(host):\(port)/live"), key: Secret("show"))
        rtmp.caFile = try TestCertificates.shared.get().ca
        change(&rtmp)
        return try DestinationRun(DestinationSettings(name: "main", kind: .rtmp(rtmp)))
    }

    /// Nothing listens behind it, because TLS must fail first.
    private func stunnel(_ certificate: String, version: String = "TLSv1.3") throws -> StunnelServer {
        try StunnelServer(certificate: certificate, version: version, to: Loopback.freePort())
    }

    /// Of a file with many CAs, only those with the right name are tried. The key must match, too.
    @Test(arguments: [true, false]) func theCAAmongMany(isThere: Bool) throws {
        let certificates = try TestCertificates.shared.get().folder
        let files = ["other.pem", "twin.pem"] + (isThere ? ["ca.pem"] : []) + ["twin.pem"]
        let folder = try TemporaryDirectory("publishing")
        let bundle = try files.reduce(into: "# comments between them\n") {
            $0 += String(decoding: try certificates.bytes(of: $1), as: UTF8.self) + "-----BEGIN NOTHING-----\n\n"
        }
        try folder.write(bundle, to: "bundle.pem")
        let stunnel = try stunnel("localhost")
        let error = try run(port: stunnel.port) { $0.caFile = folder.file("bundle.pem") }.failure()
        // Nothing listens behind an accepted TLS connection.
        #expect((error.cause == .certificate) == !isThere, "\(error)")
    }

    @Test(arguments: ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n"]) func aFileOfNoCAs(
        content: String
    ) throws {
        let folder = try TemporaryDirectory("publishing")
        try folder.write(content, to: "ca.pem")
        let stunnel = try stunnel("localhost")
        let error = try run(port: stunnel.port) { $0.caFile = folder.file("ca.pem") }.failure()
        #expect(error.cause == .certificate)
        #expect(error.detail == "cannot use the CA file \(folder.file("ca.pem")): it holds no certificates")
    }

    @Test(arguments: ["TLSv1.2", "TLSv1.3"]) func anExpiredCertificate(version: String) throws {
        let stunnel = try stunnel("expired", version: version)
        let error = try run(port: stunnel.port).failure()
        #expect(error.cause == .certificate)
        #expect(error.detail == "the server's certificate was refused: it has expired")
    }

    @Test func aCertificateThatSignedItself() throws {
        let stunnel = try stunnel("self-signed")
        let error = try run(port: stunnel.port).failure()
        #expect(error.cause == .certificate)
        #expect(error.detail.contains("its issuer is not among the trusted CAs"), "\(error)")
    }

    /// The certificates of ordinary servers are accepted.
    @Test(.enabled(if: NginxRTMP.isInstalled), arguments: [
        "rsa-2048", "rsa-4096", "p-384", "ed25519", "for-both", "for-all",
    ], ["TLSv1.2", "TLSv1.3"]) func ordinaryCertificates(certificate: String, version: String) throws {
        let nginx = try NginxRTMP()
        let stunnel = try StunnelServer(certificate: certificate, version: version, to: nginx.port)
        let run = try run(port: stunnel.port)
        try run.wait(for: .publishing)
        run.stop()
        #expect(run.destination.snapshot.lastError == nil)
    }

    /// A client certificate with the right CA and name is not valid for a server.
    @Test(arguments: ["TLSv1.2", "TLSv1.3"]) func aCertificateForAnotherPurpose(version: String) throws {
        let stunnel = try stunnel("for-clients", version: version)
        let error = try run(port: stunnel.port).failure()
        #expect(error.cause == .certificate)
        #expect(
            error.detail
                == "the server's certificate was refused: it is not for TLS servers (extended key usage)")
    }

    /// Also refused if verification is off.
    @Test(arguments: ["TLSv1.2", "TLSv1.3"], [true, false]) func weakKeys(version: String, isVerified: Bool) throws {
        let short = try stunnel("rsa-1024", version: version)
        let error = try run(port: short.port) { $0.verifiesCertificate = isVerified }.failure()
        #expect(error.cause == .certificate)
        #expect(
            error.detail
                == "the server's certificate was refused: its RSA key has 1024 bits, 2048 to 8192 are accepted")
    }

    /// An address is verified as an address, not as a name.
    @Test(arguments: ["127.0.0.1", "[::1]"]) func aCertificateThatIsNotForTheAddress(host: String) throws {
        guard host == "127.0.0.1" || Loopback.hasIPv6 else { return }
        let stunnel = try StunnelServer(
            certificate: "elsewhere", version: "TLSv1.3", to: Loopback.freePort(), withIPv6: Loopback.hasIPv6)
        let error = try run(port: stunnel.port, host: host).failure()
        #expect(error.cause == .certificate)
        #expect(error.detail.hasSuffix("it is not for \(host.filter { !"[]".contains($0) })"), "\(error)")
    }

    @Test(.enabled(if: NginxRTMP.isInstalled && Loopback.hasIPv6)) func anIPv6AddressInTheCertificate() throws {
        let nginx = try NginxRTMP()
        let stunnel = try StunnelServer(
            certificate: "localhost", version: "TLSv1.3", to: nginx.port, withIPv6: true)
        let run = try run(port: stunnel.port, host: "[::1]")
        try run.wait(for: .publishing)
        #expect(run.destination.snapshot.location == "rtmps://[::1]:\(stunnel.port)/live")
        run.stop()
        #expect(run.destination.snapshot.lastError == nil)
    }

    /// With verification turned off, it works, and a warning is given each time.
    @Test(.enabled(if: NginxRTMP.isInstalled), arguments: ["self-signed", "expired"])
    func withoutVerification(certificate: String) throws {
        let nginx = try NginxRTMP()
        let stunnel = try StunnelServer(certificate: certificate, version: "TLSv1.3", to: nginx.port)
        let run = try run(port: stunnel.port) { $0.verifiesCertificate = false }
        try run.wait(for: .publishing)
        #expect(run.notices.contains { $0.contains("NOT verified") }, "\(run.said)")
        run.stop()
    }

    @Test func anOldVersionIsRefused() throws {
        let stunnel = try stunnel("localhost", version: "TLSv1.1")
        let error = try run(port: stunnel.port).failure()
        #expect(error.cause == .tls, "\(error)")
    }

    @Test func aServerThatIsMuteInTLS() throws {
        let server = try ScriptedServer { $0.receiveAll() }
        let error = try run(port: server.port) { $0.handshakeTimeout = .milliseconds(200) }.failure()
        #expect(error.cause == .handshakeTimeout, "\(error)")
    }
}
