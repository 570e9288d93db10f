import Foundation
import LinuxSystem
import TestSupport
import Testing

@Suite struct UnixSocketTests {
    @Test func acceptsAndNamesThePeer() throws {
        let folder = try TemporaryDirectory("socket")
        let path = folder.file("socket")
        let listener = try UnixSocket.listen(path: path, mode: 0o600)
        let client = try UnixSocket.connect(path: path)
        guard let accepted = try UnixSocket.accept(listener) else {
            Issue.record("nobody was waiting")
            return
        }
        #expect(PeerCredentials(socket: accepted.raw)?.processID == getpid())
        withExtendedLifetime(client.raw) {}
    }

    @Test func refusesAPathInUseAndReplacesAStaleOne() throws {
        let folder = try TemporaryDirectory("socket")
        let path = folder.file("socket")
        do {
            let listener = try UnixSocket.listen(path: path, mode: 0o600)
            #expect(throws: UnixSocket.Failure.self) { _ = try UnixSocket.listen(path: path, mode: 0o600) }
            withExtendedLifetime(listener.raw) {}
        }
        let again = try UnixSocket.listen(path: path, mode: 0o600)
        #expect(again.raw >= 0)
    }

    @Test func leavesAFileAlone() throws {
        let folder = try TemporaryDirectory("socket")
        let path = folder.file("socket")
        try Data("keep".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: UnixSocket.Failure.self) { _ = try UnixSocket.listen(path: path, mode: 0o600) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "keep")
    }

    @Test func pathTooLong() {
        #expect(throws: UnixSocket.Failure.self) {
            _ = try UnixSocket.connect(path: "/tmp/" + String(repeating: "x", count: 200))
        }
    }
}
