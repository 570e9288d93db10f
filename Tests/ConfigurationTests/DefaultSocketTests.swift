import Testing

@testable import Configuration

/// The default sockets depend on the machine; what somebody sets does not.
@Suite struct DefaultSocketTests {
    @Test func bothAreInOneFolder() {
        var configuration = Configuration()
        let standard = configuration
        configuration.placeSockets(in: "/run/upcast")
        #expect(configuration.ingest == standard.ingest && configuration.control == standard.control)
        configuration.placeSockets(in: "/run/user/1000/upcast")
        #expect(configuration.ingest.socket == "/run/user/1000/upcast/capture.sock")
        #expect(configuration.control.socket == "/run/user/1000/upcast/control.sock")
    }

    /// Whether or not this user has a folder of its own.
    @Test func aSocketThatIsSetStays() throws {
        let configuration = try Configuration.load(
            text: Array("ingest: { socket: /a/b.sock }".utf8), path: "x",
            environment: ["XDG_RUNTIME_DIR": "/tmp", "UPCAST_CONTROL_SOCKET": "/c/d.sock"])
        #expect(configuration.ingest.socket == "/a/b.sock" && configuration.control.socket == "/c/d.sock")
    }
}
