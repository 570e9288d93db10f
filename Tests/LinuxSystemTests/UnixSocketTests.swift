import Foundation
import LinuxSystem
import Testing

@Suite struct UnixSocketTests {
    private func temporaryPath() -> String { "/tmp/upcast-test-\(UUID().uuidString.prefix(8)).sock" }

    @Test func acceptsAndNamesThePeer() throws {
        let path = temporaryPath()
        defer { unlink(path) }
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
        let path = temporaryPath()
        defer { unlink(path) }
        do {
            let listener = try UnixSocket.listen(path: path, mode: 0o600)
            #expect(throws: UnixSocket.Failure.self) { _ = try UnixSocket.listen(path: path, mode: 0o600) }
            withExtendedLifetime(listener.raw) {}
        }
        let again = try UnixSocket.listen(path: path, mode: 0o600)
        #expect(again.raw >= 0)
    }

    @Test func leavesAFileAlone() throws {
        let path = temporaryPath()
        defer { unlink(path) }
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
