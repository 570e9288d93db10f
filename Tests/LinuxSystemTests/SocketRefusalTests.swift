import Foundation
import LinuxSystem
import TestSupport
import Testing

/// Why a socket cannot be used, and what helps.
@Suite struct SocketRefusalTests {
    private func refusal(_ path: String) throws -> SocketRefusal {
        let failure = #expect(throws: UnixSocket.Failure.self) { _ = try UnixSocket.connect(path: path) }
        return SocketRefusal(try #require(failure), path: path)
    }

    @Test func causes() throws {
        let folder = try TemporaryDirectory("refusal")
        let path = folder.file("socket")
        #expect(try refusal(path) == .missing)
        // Bound and closed: nobody listens.
        do { _ = try UnixSocket.listen(path: path, mode: 0o600) }
        #expect(try refusal(path) == .nobodyListens)
        #expect(try refusal(path + "/below") == .notASocket)
        unlink(path)
        try Data("text".utf8).write(to: URL(filePath: path))
        #expect(try refusal(path) == .notASocket)
    }

    private func remedy(_ access: SocketAccess, isMember: Bool = false) -> String {
        access.remedy({ $0 == 0 ? "root" : "kiosk" }, { "group\($0)" }, isMember: { isMember })
    }

    @Test func remedies() {
        var access = SocketAccess(path: "/run/upcast/main", isFolder: true, owner: 61_000, group: 990, mode: 0o750)
        #expect(
            remedy(access) == "the folder /run/upcast/main is for the group group990; join it with "
                + "\"sudo usermod -aG group990 $USER\", then log in again")
        #expect(remedy(access, isMember: true).hasSuffix("which you have joined since this login; log in again"))
        // A group that may not enter the folder, and the group root: joining would not help, or be wrong.
        access.mode = 0o740
        #expect(remedy(access) == "only kiosk can use the folder /run/upcast/main; run the command as that user")
        (access.mode, access.group, access.owner) = (0o770, 0, 0)
        #expect(remedy(access).hasSuffix("run the command with sudo"))
        // A socket is written to.
        var socket = SocketAccess(path: "/x/control.sock", isFolder: false, owner: 0, group: 990, mode: 0o660)
        #expect(remedy(socket).hasPrefix("the socket is for the group group990"))
        socket.mode = 0o650
        #expect(remedy(socket).hasPrefix("only root can use the socket"))
        socket.owner = nil
        #expect(remedy(socket).contains("as root"))
    }

    @Test func namesOfNumbers() {
        #expect(AccountNames.name(user: 0) == "root" && AccountNames.name(group: 0) == "root")
        #expect(AccountNames.name(user: 3_999_999_999) == "3999999999")
        #expect(AccountNames.name(group: 3_999_999_999) == "3999999999")
        #expect(AccountNames.isUser(0, in: 0) && !AccountNames.isUser(0, in: 3_999_999_999))
    }
}
