import MediaCore
import TestSupport
@testable import Publishing
import Testing

/// Promise: no certificate costs more than 100 ms of computation before it is judged. A more expensive one would stall
/// the destination's thread, which nothing can interrupt, until a watchdog ends the daemon.
@Suite(.enabled(if: StunnelServer.isInstalled), .serialized) struct TLSCostTests {
    private static let bound = MediaTime.milliseconds(100)

    private func handshake(
        _ server: OpenSSLServer, caFile: String?, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> PublishError? {
        let handshake = try MeasuredHandshake(port: server.port, caFile: caFile)
        // A sanitizer multiplies the cost of an allocation, and a list of names needs thousands of them.
        guard !Patience.isSanitized else { return handshake.error }
        #expect(handshake.computation < Self.bound, "\(handshake)", sourceLocation: sourceLocation)
        return handshake.error
    }

    /// Bug: an RSA key of 16,384 bits with an exponent as long cost 0.4 to 1.5 s, one of 81,920 bits 38 s.
    @Test(arguments: ["-tls1_2", "-tls1_3"], [true, false]) func aHugeRSAKey(version: String, isVerified: Bool) throws {
        let hostile = try HostileCertificates.shared.get()
        let server = try OpenSSLServer(
            certificate: hostile.file("huge.crt"), key: hostile.file("huge.key"), [version])
        let error = try handshake(server, caFile: isVerified ? hostile.file("ca.crt") : nil)
        #expect(
            error
                == PublishError(
                    .certificate,
                    "the server's certificate was refused: its RSA key has 16384 bits, 2048 to 8192 are accepted"))
    }

    /// The same in a chain that leads to a trusted authority.
    @Test(arguments: ["-tls1_2", "-tls1_3"], [true, false]) func aHugeIssuer(version: String, isVerified: Bool) throws {
        let hostile = try HostileCertificates.shared.get()
        let server = try OpenSSLServer(
            certificate: hostile.file("under-huge.crt"), key: hostile.file("small.key"),
            [version, "-cert_chain", hostile.file("huge-ca.crt")])
        let error = try handshake(server, caFile: isVerified ? hostile.file("ca.crt") : nil)
        #expect(error?.cause == .certificate && error?.detail.contains("issuer 1's RSA key") == true, "\(error as Any)")
    }

    /// Bug: GnuTLS verified a stapled OCSP response, with the key of a certificate in the response, before it checked
    /// whether the chain was trusted.
    @Test(arguments: ["-tls1_2", "-tls1_3"], [true, false]) func aHugeOCSPSigner(
        version: String, isTrusted: Bool
    ) throws {
        let hostile = try HostileCertificates.shared.get()
        let server = try OpenSSLServer(
            certificate: hostile.file("leaf.crt"), key: hostile.file("small.key"),
            [version, "-cert_chain", hostile.file("ca.crt"), "-status_file", hostile.file("response.der")])
        let caFile = isTrusted ? hostile.file("ca.crt") : try TestCertificates.shared.get().otherCA
        let error = try handshake(server, caFile: caFile)
        let why = isTrusted ? "its OCSP signer's RSA key has 16384 bits" : "its issuer is not among the trusted CAs"
        #expect(error?.cause == .certificate && error?.detail.contains(why) == true, "\(error as Any)")
    }

    /// A valid response does no harm.
    @Test(arguments: ["-tls1_2", "-tls1_3"]) func anOrdinaryOCSPResponse(version: String) throws {
        let hostile = try HostileCertificates.shared.get()
        let server = try OpenSSLServer(
            certificate: hostile.file("leaf.crt"), key: hostile.file("small.key"),
            [version, "-cert_chain", hostile.file("ca.crt"), "-status_file", hostile.file("ordinary.der")])
        #expect(try handshake(server, caFile: hostile.file("ca.crt")) == nil)
    }

    /// Bug: a key exchange in the largest of the named finite fields cost 0.2 s.
    @Test(arguments: [
        ["-tls1_3", "-groups", "ffdhe8192"], ["-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256"],
        ["-tls1_2", "-cipher", "AES128-SHA"], ["-tls1_2", "-cipher", "AES256-GCM-SHA384"],
    ]) func keyExchangeWithoutCurves(arguments: [String]) throws {
        let pem = try TestCertificates.shared.get().folder.file("rsa-2048.pem")
        let server = try OpenSSLServer(certificate: pem, key: pem, arguments)
        #expect(try handshake(server, caFile: TestCertificates.shared.get().ca)?.cause == .tls)
    }

    /// Bug: two certificates with the maximum number of names cost 57 to 99 ms.
    @Test(arguments: ["-tls1_2", "-tls1_3"]) func manyNames(version: String) throws {
        let hostile = try HostileCertificates.shared.get()
        let server = try OpenSSLServer(
            certificate: hostile.file("many.crt"), key: hostile.file("small.key"),
            [version, "-cert_chain", hostile.file("many-ca.crt")])
        let error = try handshake(server, caFile: hostile.file("ca.crt"))
        #expect(error?.detail.contains("its certificate has 5001 alternative names") == true, "\(error as Any)")
    }

    /// Everything that can be made expensive apart from keys, up to its limit.
    @Test(arguments: HostileCertificates.long, [true, false]) func longLists(name: String, isTrusted: Bool) throws {
        let hostile = try HostileCertificates.shared.get()
        let server = try OpenSSLServer(
            certificate: hostile.file(name + ".crt"), key: hostile.file("small.key"),
            ["-tls1_3", "-cert_chain", hostile.file(name + "-ca.crt")])
        _ = try handshake(server, caFile: isTrusted ? hostile.file("ca.crt") : TestCertificates.shared.get().otherCA)
    }

    /// The longest accepted chain, with the largest keys, each signed by the next one up to a trusted authority.
    @Test(arguments: [true, false]) func aLongChainOfLargeKeys(isTrusted: Bool) throws {
        let hostile = try HostileCertificates.shared.get()
        let server = try OpenSSLServer(
            certificate: hostile.file("chain0.crt"), key: hostile.file("large.key"),
            ["-tls1_3", "-cert_chain", hostile.file("chain.pem"), "-status_file", hostile.file("chain.der")])
        let error = try handshake(
            server, caFile: isTrusted ? hostile.file("ca.crt") : TestCertificates.shared.get().otherCA)
        let why = isTrusted ? "the OCSP response that came with it is not valid" : "not among the trusted CAs"
        #expect(error?.cause == .certificate && error?.detail.contains(why) == true, "\(error as Any)")
    }
}
