import Buffering
import Endpoints
import LinuxSystem
import MediaCore
@testable import Publishing
import TestSupport
import Testing

/// rtmps:// to a real nginx-rtmp behind a real stunnel.
@Suite(.enabled(if: NginxRTMP.isInstalled && StunnelServer.isInstalled), .serialized) struct TLSDestinationTests {
    private func run(
        _ stunnel: StunnelServer, host: String = "localhost", reconnect: ReconnectPolicy = .never,
        hasWorked: Bool = false,
        _ change: (inout RTMPDestinationSettings) -> Void
    ) throws -> DestinationRun {
        var rtmp = RTMPDestinationSettings(
            endpoint: try RTMPEndpoint("rtmps://\(host):\(stunnel.port)/live"), key: Secret("show"))
        change(&rtmp)
        var settings = DestinationSettings(name: "main", kind: .rtmp(rtmp), cursorPolicy: .keepEverything)
        settings.hasWorked = hasWorked
        return try DestinationRun(
            settings, log: FLVFixture.log(), format: FLVFixture.shared.get().format, reconnect: reconnect)
    }

    /// Bug: another certificate at a single reconnect ended the destination for the rest of the broadcast.
    @Test func aBadCertificateIsTriedAgainWhereTheServerHasWorked() throws {
        let fixture = try FLVFixture.shared.get()
        let nginx = try NginxRTMP()
        let ca = try TestCertificates.shared.get().ca
        var stunnel: StunnelServer? = try StunnelServer(certificate: "localhost", version: "TLSv1.3", to: nginx.port)
        let port = try #require(stunnel).port
        var policy = ReconnectPolicy()
        (policy.firstDelay, policy.longestDelay) = (.milliseconds(50), .milliseconds(50))
        let run = try run(#require(stunnel), reconnect: policy) { $0.caFile = ca }
        fixture.write(0..<1, to: run.log)
        try run.wait(until: "the first keyframe went out") { $0.video.packets == 1 }
        stunnel = nil
        stunnel = try StunnelServer(certificate: "elsewhere", version: "TLSv1.3", to: nginx.port, port: port)
        try run.wait(until: "the other certificate was refused") { $0.lastError?.cause == .certificate }
        stunnel = nil
        stunnel = try StunnelServer(certificate: "localhost", version: "TLSv1.3", to: nginx.port, port: port)
        try run.wait(until: "it was live again") { $0.connects == 2 }
        #expect(!run.said.contains("failed"), "\(run.said)")
    }

    /// Bug: a bad certificate was final although an earlier broadcast had got a good one.
    @Test func aBadCertificateIsTriedAgainInALaterBroadcast() throws {
        let stunnel = try StunnelServer(certificate: "elsewhere", version: "TLSv1.3", to: Loopback.freePort())
        let ca = try TestCertificates.shared.get().ca
        let run = try run(stunnel, reconnect: ReconnectPolicy(), hasWorked: true) { $0.caFile = ca }
        try run.wait(until: "the certificate was refused") { $0.lastError?.cause == .certificate }
        try run.wait(for: .reconnecting)
        #expect(!run.said.contains("failed"), "\(run.said)")
    }

    @Test(arguments: ["elsewhere", "rsa-1024"]) func aBadCertificateFromTheStartIsFinal(certificate: String) throws {
        let stunnel = try StunnelServer(certificate: certificate, version: "TLSv1.3", to: Loopback.freePort())
        let ca = try TestCertificates.shared.get().ca
        #expect(try run(stunnel, reconnect: ReconnectPolicy()) { $0.caFile = ca }.failure().cause == .certificate)
    }

    /// The name resolves to ::1 first, where nothing listens. An address in the certificate is valid, too.
    @Test(arguments: [("TLSv1.3", "localhost"), ("TLSv1.2", "localhost"), ("TLSv1.3", "127.0.0.1")])
    func everyByteArrivesVerified(version: String, host: String) throws {
        let fixture = try FLVFixture.shared.get()
        let nginx = try NginxRTMP()
        let stunnel = try StunnelServer(certificate: "localhost", version: version, to: nginx.port)
        let ca = try TestCertificates.shared.get().ca
        let run = try run(stunnel, host: host) { $0.caFile = ca }
        try run.feed(fixture)
        run.stop()
        #expect(run.destination.snapshot.tlsProtocol == version.replacing("TLSv", with: "TLS"))
        #expect(run.destination.snapshot.tlsProtocol != nil && run.destination.snapshot.isDrained)
        let recording = try nginx.recording(videoPackets: 120)
        #expect(zip(recording.video, fixture.recording.video).allSatisfy { $0.payload == $1.payload })
        #expect(recording.audio.count == fixture.recording.audio.count)
        #expect(zip(recording.audio, fixture.recording.audio).allSatisfy { $0.payload == $1.payload })
    }

    /// A destination from a request: its CA file is a name beneath the operator's folder.
    @Test func authoritiesBeneathAFolder() throws {
        let fixture = try FLVFixture.shared.get()
        let nginx = try NginxRTMP()
        let stunnel = try StunnelServer(certificate: "localhost", version: "TLSv1.3", to: nginx.port)
        let parts = try #require(try TestCertificates.shared.get().ca.splitAtLastSlash)
        let run = try run(stunnel) { ($0.caFolder, $0.caFile) = (parts.folder, parts.name) }
        fixture.write(0..<1, to: run.log)
        try run.wait(until: "the first keyframe went out") { $0.video.packets == 1 }
        run.stop()
        let outside = try self.run(stunnel) { ($0.caFolder, $0.caFile) = (parts.folder + "/none", "../\(parts.name)") }
        #expect(try outside.failure().detail.contains("cannot read the CA file"))
        let above = try self.run(stunnel) { ($0.caFolder, $0.caFile) = (parts.folder, "../etc/ssl/ca.pem") }
        #expect(try above.failure().detail.contains("cannot read the CA file ../etc/ssl/ca.pem"))
    }

    @Test func aCertificateOfAnotherCAIsRefused() throws {
        let stunnel = try StunnelServer(certificate: "localhost", version: "TLSv1.3", to: Loopback.freePort())
        let otherCA = try TestCertificates.shared.get().otherCA
        let error = try run(stunnel) { $0.caFile = otherCA }.failure()
        #expect(error.cause == .certificate)
        #expect(error.detail == "the server's certificate was refused: its issuer is not among the trusted CAs")
        // The system's CAs do not know it either.
        #expect(try run(stunnel) { _ in }.failure().cause == .certificate)
    }

    @Test func aCertificateForAnotherNameIsRefused() throws {
        let stunnel = try StunnelServer(certificate: "elsewhere", version: "TLSv1.3", to: Loopback.freePort())
        let ca = try TestCertificates.shared.get().ca
        let error = try run(stunnel) { $0.caFile = ca }.failure()
        #expect(error.cause == .certificate)
        #expect(error.detail == "the server's certificate was refused: it is not for localhost")
    }

    @Test func verificationIsTurnedOffOnlyLoudly() throws {
        let nginx = try NginxRTMP()
        let stunnel = try StunnelServer(certificate: "elsewhere", version: "TLSv1.3", to: nginx.port)
        let ca = try TestCertificates.shared.get().otherCA
        let run = try run(stunnel) {
            $0.caFile = ca
            $0.verifiesCertificate = false
        }
        try run.wait(for: .publishing)
        #expect(run.notices.first?.contains("NOT verified") == true)
        run.stop()
    }

    @Test func aCAFileThatCannotBeReadIsNamed() throws {
        let server = try ScriptedServer { $0.receiveAll() }
        var rtmp = RTMPDestinationSettings(
            endpoint: try RTMPEndpoint("rtmps://127.0.0.1:\(server.port)/live"), key: Secret("show"))
        rtmp.caFile = "/nonexistent/ca.pem"
        let run = try DestinationRun(DestinationSettings(name: "main", kind: .rtmp(rtmp)))
        let error = try run.failure()
        #expect(error.cause == .certificate && error.detail.contains("/nonexistent/ca.pem"), "\(error)")
    }

    @Test func aPlainServerIsNoTLSServer() throws {
        let server = try ScriptedServer { peer in
            peer.send(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
            peer.receiveAll()
        }
        let ca = try TestCertificates.shared.get().ca
        var rtmp = RTMPDestinationSettings(
            endpoint: try RTMPEndpoint("rtmps://127.0.0.1:\(server.port)/live"), key: Secret("show"))
        rtmp.caFile = ca
        let run = try DestinationRun(DestinationSettings(name: "main", kind: .rtmp(rtmp)))
        let error = try run.failure()
        #expect(error.cause == .tls, "\(error)")
    }
}

extension String {
    fileprivate var splitAtLastSlash: (folder: String, name: String)? {
        lastIndex(of: "/").map { (String(self[..<$0]), String(self[index(after: $0)...])) }
    }
}
