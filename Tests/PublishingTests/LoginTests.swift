import Buffering
import Endpoints
import FLV
import LinuxSystem
import MediaCore
@testable import Publishing
import TestSupport
import Testing

/// Logins at a server that follows the protocol and computes the expected answers itself.
@Suite struct LoginTests {
    private static let password = "p%ss:w0rd"

    /// Refuses twice, as servers do, then admits clients that know the password. Records each verdict.
    private static func server(_ method: String, verdicts: Monitor<[Bool]>) throws -> ScriptedServer {
        try ScriptedServer(clients: 4) { peer in
            peer.handshake()
            guard let connect = peer.receiveCommand(), connect.count > 2, let app = connect[2]["app"]?.stringValue,
                let tcURL = connect[2]["tcUrl"]?.stringValue, tcURL.hasSuffix("/" + app)
            else { return }
            func refuse(_ text: String) {
                let info = AMF0Value.object([
                    AMF0Property("level", .string("error")),
                    AMF0Property("code", .string("NetConnection.Connect.Rejected")),
                    AMF0Property("description", .string("[ AccessManager.Reject ] : [ \(text)")),
                ])
                peer.send(command(.string("_error"), .number(1), .null, info))
            }
            let fields = fields(of: app)
            guard app.hasPrefix("live?authmod=\(method)&") else {
                return refuse("code=403 need auth; authmod=\(method) ] : ")
            }
            guard let response = fields["response"] else {
                let challenge = method == "adobe" ? "salt=S4lt=&challenge=Ch4l=&opaque=0paq=" : "nonce=N0nc3="
                return refuse("authmod=\(method) ] : ?reason=needauth&user=\(fields["user"] ?? "")&\(challenge)")
            }
            let isRight = (try? expected(method, fields)) == response
            verdicts.signal { $0.append(isRight) }
            guard isRight else { return refuse("authmod=\(method) ] : ?reason=authfailed&opaque=0paq=") }
            peer.acceptConnected()
            peer.receiveAll()
        }
    }

    private static func fields(of app: String) -> [String: String] {
        var fields: [String: String] = [:]
        for field in app.split(separator: "?").dropFirst().joined().split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            fields[String(parts[0])] = String(parts.last ?? "")
        }
        return fields
    }

    /// Computed with coreutils.
    private static func md5(_ text: String) throws -> String {
        let folder = try TemporaryDirectory("publishing")
        try folder.write(text, to: "text")
        return String(try ChildProcess.run("md5sum", [folder.file("text")]).prefix(32))
    }

    private static func base64md5(_ text: String) throws -> String {
        let escaped = try md5(text).enumerated().map { $0.offset % 2 == 0 ? "\\x\($0.element)" : "\($0.element)" }
        let script = "printf '\(escaped.joined())' | base64"
        return String(try ChildProcess.run("bash", ["-c", script]).prefix { $0 != "\n" })
    }

    private static func expected(_ method: String, _ fields: [String: String]) throws -> String {
        guard method == "llnw" else {
            return try base64md5(base64md5("bobS4lt=\(password)") + "0paq=" + (fields["challenge"] ?? ""))
        }
        let (first, second) = (try md5("bob:live:\(password)"), try md5("publish:/live/_definst_"))
        return try md5("\(first):N0nc3=:00000001:\(fields["cnonce"] ?? ""):auth:\(second)")
    }

    private func run(_ userInfo: String, port: UInt16) throws -> DestinationRun {
        let endpoint = try RTMPEndpoint("rtmp://\(userInfo)127.0.0.1:\(port)/live")
        return try DestinationRun(
            DestinationSettings(
                name: "main", kind: .rtmp(RTMPDestinationSettings(endpoint: endpoint, key: Secret("k3y")))))
    }

    @Test(arguments: ["adobe", "llnw"]) func theRightPasswordLetsIn(method: String) throws {
        let verdicts = Monitor<[Bool]>([])
        let server = try Self.server(method, verdicts: verdicts)
        let run = try run("bob:p%25ss:w0rd@", port: server.port)
        try run.wait(for: .publishing)
        #expect(verdicts.withLock { $0 } == [true])
        // Reported once, not for each of the three connections.
        #expect(run.notices.count == 1 && run.notices.first?.contains("unencrypted connection") == true)
        run.stop()
        #expect(run.destination.snapshot.state == .stopped)
    }

    @Test(arguments: ["adobe", "llnw"]) func theWrongPasswordIsFinalAndNotShown(method: String) throws {
        let verdicts = Monitor<[Bool]>([])
        let server = try Self.server(method, verdicts: verdicts)
        let run = try run("bob:gu3ss@", port: server.port)
        let error = try run.failure()
        #expect(error.cause == .credentials && error.detail == "the server does not accept the user or the password")
        #expect(verdicts.withLock { $0 } == [false])
        #expect(run.said.allSatisfy { !$0.contains("gu3ss") && !$0.contains("bob") }, "\(run.said)")
    }

    @Test func aLoginThatNobodyHas() throws {
        let server = try Self.server("adobe", verdicts: Monitor([]))
        let error = try run("", port: server.port).failure()
        #expect(error.cause == .credentials && error.detail.contains("login_file"), "\(error)")
    }

    /// A server that refuses in other words may know the secrets, and repeat them.
    @Test func aRefusalThatRepeatsTheSecrets() throws {
        let server = try ScriptedServer { peer in
            peer.handshake()
            peer.receive(until: "connect")
            let text = "user bob with p%25ss:w0rd or \(Self.password) may not"
            let info = AMF0Value.object([AMF0Property("description", .string(text))])
            peer.send(command(.string("_error"), .number(1), .null, info))
            peer.receiveAll()
        }
        let error = try run("bob:p%25ss:w0rd@", port: server.port).failure()
        let words = "user <redacted> with <redacted> or <redacted> may not"
        #expect(error.detail == "the server rejected the application (\(words))")
    }

    /// All steps share one deadline, so a server cannot extend the handshake with further challenges.
    @Test func aServerThatFallsSilentAfterItsChallenge() throws {
        let server = try ScriptedServer(clients: 2) { peer in
            peer.handshake()
            peer.receive(until: "connect")
            guard peer.number == 0 else { return peer.receiveAll() }
            let text = "[ AccessManager.Reject ] : [ code=403 need auth; authmod=adobe ] : "
            let info = AMF0Value.object([AMF0Property("description", .string(text))])
            peer.send(command(.string("_error"), .number(1), .null, info))
        }
        let endpoint = try RTMPEndpoint("rtmp://bob:secret@127.0.0.1:\(server.port)/live")
        var rtmp = RTMPDestinationSettings(endpoint: endpoint, key: Secret("k3y"))
        rtmp.handshakeTimeout = .milliseconds(500)
        let run = try DestinationRun(DestinationSettings(name: "main", kind: .rtmp(rtmp)))
        #expect(try run.failure().cause == .handshakeTimeout)
    }

    /// The server of these tests also admits another encoder, so it computes the real protocol.
    @Test(arguments: ["adobe", "llnw"]) func anotherEncoderAgreesWithThisServer(method: String) throws {
        let verdicts = Monitor<[Bool]>([])
        let server = try Self.server(method, verdicts: verdicts)
        let ffmpeg = try ChildProcess("ffmpeg", [
            "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=10", "-t", "1", "-c:v", "libx264",
            "-f", "flv",
            "rtmp://bob:\(Self.password)@127.0.0.1:\(server.port)/live/key",
        ])
        try waitFor("ffmpeg's answer to the challenge", within: 30) { verdicts.withLock { !$0.isEmpty } }
        #expect(verdicts.withLock { $0 } == [true])
        ffmpeg.kill()
    }
}
