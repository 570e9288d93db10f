import Foundation
import Testing

/// Certificates for a test: a CA, a second one that nobody trusts, and servers' certificates by the first.
struct TestCertificates {
    let folder: TemporaryFolder

    static let shared = Result { try TestCertificates() }.mapError { SharedFailure(text: "no certificates: \($0)") }

    var ca: String { folder.file("ca.pem") }
    var otherCA: String { folder.file("other.pem") }

    private init() throws {
        folder = try TemporaryFolder()
        try authority("ca", name: "upcast test CA")
        try authority("other", name: "another test CA")
        try server("localhost", names: "DNS:localhost,IP:127.0.0.1")
        try server("elsewhere", names: "DNS:elsewhere.example")
    }

    private func openssl(_ arguments: [String]) throws {
        try TestProcess.output(
            of: "/usr/bin/openssl",
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"] + arguments)
    }

    private func authority(_ file: String, name: String) throws {
        let (key, certificate) = (folder.file(file + ".key"), folder.file(file + ".pem"))
        try openssl(["-keyout", key, "-out", certificate, "-subj", "/CN=\(name)", "-days", "2"])
    }

    /// Writes `file`.pem with certificate and key, as stunnel wants them.
    private func server(_ file: String, names: String) throws {
        let (key, certificate) = (folder.file(file + ".key"), folder.file(file + ".crt"))
        try openssl([
            "-CA", ca, "-CAkey", folder.file("ca.key"), "-keyout", key, "-out", certificate, "-subj", "/CN=\(file)",
            "-addext", "subjectAltName=\(names)", "-addext", "basicConstraints=critical,CA:FALSE", "-days", "2",
        ])
        let both = try folder.bytes(of: file + ".crt") + folder.bytes(of: file + ".key")
        try Data(both).write(to: URL(filePath: folder.file(file + ".pem")))
    }
}

/// A real stunnel that takes TLS on a free port and passes what is inside on.
final class StunnelServer {
    static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/stunnel4")
        && FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

    let port: UInt16
    private let folder: TemporaryFolder
    private let process: TestProcess

    /// - Parameters:
    ///   - certificate: "localhost" or "elsewhere".
    ///   - version: the only version that is spoken, such as "TLSv1.2".
    init(certificate: String, version: String, to target: UInt16) throws {
        folder = try TemporaryFolder()
        port = try Loopback.freePort()
        let pem = try TestCertificates.shared.get().folder.file(certificate + ".pem")
        try folder.write(
            """
            foreground = yes
            pid =
            output = \(folder.file("stunnel.log"))
            [rtmps]
            accept = 127.0.0.1:\(port)
            connect = 127.0.0.1:\(target)
            cert = \(pem)
            sslVersion = \(version)
            """, to: "stunnel.conf")
        process = try TestProcess("/usr/bin/stunnel4", [folder.file("stunnel.conf")])
        try Loopback.waitForListener(at: port)
    }
}
