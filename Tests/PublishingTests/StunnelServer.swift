import Foundation
import TestSupport
import Testing

/// Certificates for a test: a CA, a second one that is not trusted, a third one with the first one's name, and servers'
/// certificates by the first.
struct TestCertificates {
    let folder: TemporaryDirectory

    static let shared = Result { try TestCertificates() }.mapError { SharedFailure(text: "no certificates: \($0)") }

    var ca: String { folder.file("ca.pem") }
    var otherCA: String { folder.file("other.pem") }

    private init() throws {
        folder = try TemporaryDirectory("publishing")
        try signedByItself("ca", subject: "upcast test CA", to: "ca.pem")
        try signedByItself("other", subject: "another test CA", to: "other.pem")
        try signedByItself("twin", subject: "upcast test CA", to: "twin.pem")
        try server("localhost", names: "DNS:localhost,IP:127.0.0.1,IP:::1")
        try server("elsewhere", names: "DNS:elsewhere.example")
        try server("expired", names: "DNS:localhost", days: -1)
        for (name, key) in Self.keys { try server(name, names: "DNS:localhost", key: key) }
        for (name, purposes) in Self.purposes {
            try server(name, names: "DNS:localhost", extensions: "extendedKeyUsage=\(purposes)\n")
        }
        try signedByItself("self-signed", subject: "localhost", to: "self-signed.crt")
        try concatenate("self-signed", certificate: "self-signed.crt")
    }

    private func openssl(_ arguments: [String]) throws {
        try ChildProcess.run("openssl", arguments)
    }

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    private static let keys = [
        "rsa-1024": ["-newkey", "rsa:1024", "-nodes"], "rsa-2048": ["-newkey", "rsa:2048", "-nodes"],
        "rsa-4096": ["-newkey", "rsa:4096", "-nodes"],
        "p-384": ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384", "-nodes"],
        "ed25519": ["-newkey", "ed25519", "-nodes"],
        "secp256k1": ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp256k1", "-nodes"],
    ]
    private static let purposes = [
        "for-clients": "clientAuth", "for-both": "clientAuth,serverAuth", "for-all": "anyExtendedKeyUsage",
    ]

    private func signedByItself(_ file: String, subject: String, to certificate: String) throws {
        let key = ["-keyout", folder.file(file + ".key")]
        try openssl(
            ["req", "-x509"] + Self.newKey + key
                + ["-out", folder.file(certificate), "-subj", "/CN=\(subject)", "-days", "2"])
    }

    /// Writes `file`.pem with certificate and key, in stunnel's format.
    ///
    /// - Parameter days: the validity; -1 for a certificate that expired yesterday.
    private func server(
        _ file: String, names: String, days: Int = 2, key newKey: [String] = newKey, extensions: String = ""
    ) throws {
        let (key, request) = (folder.file(file + ".key"), folder.file(file + ".csr"))
        try openssl(["req", "-new"] + newKey + ["-keyout", key, "-out", request, "-subj", "/CN=\(file)"])
        try folder.write(
            "subjectAltName=\(names)\nbasicConstraints=critical,CA:FALSE\n\(extensions)", to: file + ".ext")
        try openssl([
            "x509", "-req", "-in", request, "-CA", ca, "-CAkey", folder.file("ca.key"), "-CAcreateserial",
            "-extfile", folder.file(file + ".ext"), "-days", "\(days)", "-out", folder.file(file + ".crt"),
        ])
        try concatenate(file, certificate: file + ".crt")
    }

    /// Joins a certificate and `file`.key into `file`.pem.
    private func concatenate(_ file: String, certificate: String) throws {
        let both = try folder.bytes(of: certificate) + folder.bytes(of: file + ".key")
        try Data(both).write(to: URL(filePath: folder.file(file + ".pem")))
    }
}

/// A real stunnel that accepts TLS on a free port and forwards the contents.
final class StunnelServer {
    static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/stunnel4")
        && FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

    let port: UInt16
    private let folder: TemporaryDirectory
    private let process: ChildProcess

    /// - Parameters:
    ///   - certificate: one of `TestCertificates`, such as "localhost" or "expired".
    ///   - version: the only supported version, such as "TLSv1.2".
    ///   - withIPv6: also listen at ::1.
    ///   - port: the port of a stunnel that has ended; nil for a free one.
    init(
        certificate: String, version: String, to target: UInt16, withIPv6: Bool = false, port: UInt16? = nil
    ) throws {
        folder = try TemporaryDirectory("publishing")
        let port = try port ?? Loopback.freePort()
        self.port = port
        let pem = try TestCertificates.shared.get().folder.file(certificate + ".pem")
        // Sections are bound in order, so all answer when the last one does.
        let services = (withIPv6 ? ["::1"] : []) + ["127.0.0.1"]
        let sections = services.map { address in
            """
            [\(address)]
            accept = \(address):\(port)
            connect = 127.0.0.1:\(target)
            cert = \(pem)
            sslVersion = \(version)
            """
        }
        try folder.write(
            """
            foreground = yes
            pid =
            output = \(folder.file("stunnel.log"))
            ciphers = DEFAULT@SECLEVEL=0
            \(sections.joined(separator: "\n"))
            """, to: "stunnel.conf")
        process = try ChildProcess("stunnel4", [folder.file("stunnel.conf")])
        try Loopback.waitForListener(at: port)
    }
}
