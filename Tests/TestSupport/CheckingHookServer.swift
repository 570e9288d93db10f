import Foundation
import LinuxSystem

/// An HTTPS server in Python that checks the signatures of webhooks with its own HMAC, without any of the product's
/// code.
package final class CheckingHookServer {
    package struct Delivery: Sendable {
        package var isSigned: Bool
        package var body: String
    }

    /// 32 bytes that no other test uses.
    package static let secret = "whsec_dGhpcyBpcyBhIHNlY3JldCBvZiB0aGUgZW5kLXRvLWVuZA=="

    package let port: UInt16
    /// The server's certificate, which is its own CA.
    package let caFile: String
    private let folder: TemporaryDirectory
    private let process: ChildProcess

    private static let program = """
        import base64, hashlib, hmac, http.server, json, ssl, sys
        port, certificate, key, secret = int(sys.argv[1]), *sys.argv[2:5]
        secret = base64.b64decode(secret.removeprefix("whsec_"))
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                signed = f'{self.headers["webhook-id"]}.{self.headers["webhook-timestamp"]}.'.encode() + body
                digest = "v1," + base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
                good = any(hmac.compare_digest(digest, s) for s in self.headers["webhook-signature"].split(" "))
                print(json.dumps([good, body.decode()]), flush=True)
                self.send_response(204 if good else 401)
                self.end_headers()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.serve_forever()
        """

    package init() throws {
        folder = try TemporaryDirectory("hook-server")
        port = try Loopback.freePort()
        caFile = folder.file("certificate.pem")
        let key = folder.file("key.pem")
        _ = try ChildProcess.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", caFile,
            ])
        let script = try folder.write(Self.program, to: "server.py")
        process = try ChildProcess("python3", [script, "\(port)", caFile, key, Self.secret])
        let (port, process) = (port, process)
        try waitFor("the server to listen", evidence: { process.errorTail }) { Loopback.isListening(port) }
    }

    deinit { process.signal(SIGKILL) }

    package var url: String { "https://localhost:\(port)/hooks/s3cret-path" }

    package var deliveries: [Delivery] {
        get throws {
            try process.output.split(separator: "\n").map { line in
                let items = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [Any]
                guard let isSigned = items?.first as? Bool, let body = items?.last as? String else {
                    throw TestFailure("the server wrote \(line)")
                }
                return Delivery(isSigned: isSigned, body: body)
            }
        }
    }
}
