import Foundation
import PortalCapture
import TestSupport
import Testing

/// Promise: the permission to share a screen is kept for this user alone, and is whole or not there.
@Suite struct RestoreTokenTests {
    @Test func places() {
        func path(_ client: String, _ state: String?, _ home: String?) -> String? {
            RestoreToken(client: client, stateFolder: state, home: home)?.path
        }
        #expect(path("a", "/s", "/h") == "/s/upcast/portal-a")
        #expect(path("a", nil, "/h") == "/h/.local/state/upcast/portal-a")
        // The specification: relative paths are ignored.
        #expect(path("a", "s", "/h") == "/h/.local/state/upcast/portal-a")
        #expect(path("a", "", nil) == nil)
        #expect(path("../x y", "/s", nil) == "/s/upcast/portal-..%2Fx%20y")
        #expect(path("é", "/s", nil) == "/s/upcast/portal-%C3%A9")
        #expect((path(String(repeating: "/", count: 500), "/s", nil) ?? "").utf8.count < 255)
    }

    @Test func tokensThatAreKept() throws {
        let folder = try TemporaryDirectory("token")
        let token = try #require(RestoreToken(client: "a", stateFolder: folder.file("new/state"), home: nil))
        #expect(token.read() == nil)
        for text in ["first", "second-one"] {
            try token.write(text)
            #expect(token.read() == text)
        }
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(token.path) == 0o600)
        #expect(try mode(folder.file("new/state/upcast")) == 0o700)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("new/state/upcast")) == ["portal-a"])
        token.remove()
        #expect(token.read() == nil)
    }

    @Test func whatIsNoToken() throws {
        let folder = try TemporaryDirectory("token")
        let token = try #require(RestoreToken(client: "a", stateFolder: folder.path, home: nil))
        try token.write("x")
        for bytes in ["", "a\nb", "a b", "\u{7f}", "é", String(repeating: "x", count: 1024)] {
            try Data(bytes.utf8).write(to: URL(filePath: token.path))
            #expect(token.read() == nil, "\(bytes.prefix(9))")
        }
        try Data(String(repeating: "x", count: 1023).utf8).write(to: URL(filePath: token.path))
        #expect(token.read()?.utf8.count == 1023)
        // Not what a link leads to.
        token.remove()
        try Data("x".utf8).write(to: URL(filePath: folder.file("other")))
        try FileManager.default.createSymbolicLink(atPath: token.path, withDestinationPath: folder.file("other"))
        #expect(token.read() == nil)
    }

    @Test func aFolderThatCannotBeMade() throws {
        let token = try #require(RestoreToken(client: "a", stateFolder: "/dev/null/state", home: nil))
        #expect(throws: (any Error).self) { try token.write("x") }
        #expect(token.read() == nil)
    }
}
