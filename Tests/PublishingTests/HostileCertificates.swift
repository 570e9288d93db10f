import Foundation
import TestSupport
import Testing

/// Certificates that are expensive to use, most of them signed by an authority that a test may trust.
struct HostileCertificates {
    private let folder: TemporaryDirectory

    static let shared = Result { try HostileCertificates() }.mapError { SharedFailure(text: "no certificates: \($0)") }

    /// Certificates near the maximum size, with very many small parts, and issuers of the same kind.
    static let long = ["names", "subject", "extensions", "purposes"]

    func file(_ name: String) -> String { folder.file(name) }

    private init() throws {
        folder = try TemporaryDirectory("publishing")
        try folder.write(CostlyRSAKeys.huge, to: "huge.key")
        try folder.write(CostlyRSAKeys.large, to: "large.key")
        let curve = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        try openssl(["genpkey"] + curve + ["-out", file("small.key")])
        try openssl(["genpkey"] + curve + ["-out", file("ca.key")])
        try openssl([
            "req", "-x509", "-new", "-key", file("ca.key"), "-subj", "/CN=hostile CA", "-days", "2", "-out",
            file("ca.crt"),
        ])
        for key in ["small", "large", "huge"] {
            try openssl(["pkey", "-in", file(key + ".key"), "-pubout", "-out", file(key + ".pub")])
        }
        try sign("leaf")
        try sign("huge", key: "huge")
        try sign("huge-ca", subject: "/CN=huge CA", key: "huge", Self.authority)
        try sign("under-huge", by: "huge-ca", signerKey: "huge")
        try responses()
        try chain()
        try lists()
    }

    private static let authority = "basicConstraints=critical,CA:TRUE\n"
    private static let server = "subjectAltName=DNS:localhost\n"

    private func openssl(_ arguments: [String]) throws { try ChildProcess.run("openssl", arguments) }

    /// Writes `name`.crt.
    ///
    /// - Parameters:
    ///   - key: the key whose public half the certificate contains.
    ///   - issuer: the certificate that signs it, with `signerKey`.
    private func sign(
        _ name: String, subject: String = "/CN=localhost", key: String = "small", _ extensions: String = server,
        by issuer: String = "ca", signerKey: String = "ca"
    ) throws {
        try folder.write(extensions, to: name + ".ext")
        try openssl(["req", "-new", "-key", file("small.key"), "-subj", subject, "-out", file("request")])
        try openssl([
            "x509", "-req", "-in", file("request"), "-force_pubkey", file(key + ".pub"), "-CA", file(issuer + ".crt"),
            "-CAkey", file(signerKey + ".key"), "-CAcreateserial", "-extfile", file(name + ".ext"), "-days", "2",
            "-out", file(name + ".crt"),
        ])
    }

    /// Responses for "leaf": one by a signer with a huge key whose certificate is included, and one by an ordinary
    /// signer.
    private func responses() throws {
        let signer = "extendedKeyUsage=OCSPSigning\n"
        try sign("huge-signer", subject: "/CN=huge signer", key: "huge", signer)
        try sign("signer", subject: "/CN=signer", signer)
        try respond("response.der", for: "leaf", by: "ca", signer: "huge-signer", signerKey: "huge")
        try respond("ordinary.der", for: "leaf", by: "ca", signer: "signer", signerKey: "small")
    }

    private func respond(
        _ response: String, for certificate: String, by issuer: String, signer: String, signerKey: String,
        _ further: [String] = []
    ) throws {
        let text = try ChildProcess.run("openssl", ["x509", "-in", file(certificate + ".crt"), "-noout", "-serial"])
        let serial = text.trimmingCharacters(in: .whitespacesAndNewlines).dropFirst("serial=".count)
        try folder.write("V\t400101000000Z\t\t\(serial)\tunknown\t/CN=localhost\n", to: "index")
        try openssl(
            [
                "ocsp", "-index", file("index"), "-CA", file(issuer + ".crt"), "-rsigner", file(signer + ".crt"),
                "-rkey", file(signerKey + ".key"), "-issuer", file(issuer + ".crt"), "-cert",
                file(certificate + ".crt"), "-ndays", "1", "-respout", file(response), "-noverify",
            ] + further)
    }

    /// chain0, a server's, to chain9, each with the large key and signed by the next one; the authority signs chain9.
    /// None of them has signed the response to chain0, so each must be tried.
    private func chain() throws {
        for index in (0..<10).reversed() {
            let isLast = index == 9
            try sign(
                "chain\(index)", subject: index == 0 ? "/CN=localhost" : "/CN=CA \(index)", key: "large",
                index == 0 ? Self.server : Self.authority, by: isLast ? "ca" : "chain\(index + 1)",
                signerKey: isLast ? "ca" : "large")
        }
        let issuers = try (1..<10).flatMap { try folder.bytes(of: "chain\($0).crt") }
        try Data(issuers).write(to: URL(filePath: file("chain.pem")))
        try respond(
            "chain.der", for: "chain0", by: "chain1", signer: "chain1", signerKey: "large", ["-resp_no_certs"])
        var response = try folder.bytes(of: "chain.der")
        response[response.count - 1] ^= 1
        try Data(response).write(to: URL(filePath: file("chain.der")))
    }

    private static let unit = "/OU=" + String(repeating: "a", count: 60)

    private func lists() throws {
        func names(_ count: Int, _ name: String) -> String {
            let list = (0..<count).map { "DNS.\($0)=\(name)\n" }.joined()
            return "subjectAltName=@names\n[names]\nDNS.\(count)=localhost\n" + list
        }
        try pair("many", names(5000, "a"))
        try pair("names", names(511, "a.name.of.26.characters.org"))
        try sign(
            "subject-ca", subject: "/CN=subject CA" + String(repeating: Self.unit, count: 120), Self.authority)
        try sign("subject", by: "subject-ca", signerKey: "small")
        let extensions = (0..<1280).map { "1.2.3.\($0)=DER:0500\n" }.joined()
        try pair("extensions", Self.server + extensions)
        let purposes = String(repeating: "1.2,", count: 5200)
        try pair("purposes", Self.server + "extendedKeyUsage=\(purposes)serverAuth\n")
    }

    /// A server's certificate and its issuer's, with the same extensions.
    private func pair(_ name: String, _ extensions: String) throws {
        try sign(name + "-ca", subject: "/CN=\(name) CA", Self.authority + extensions)
        try sign(name, extensions, by: name + "-ca", signerKey: "small")
    }
}
