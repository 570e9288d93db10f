import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Sockets that a service manager passes: taken where they are what they should be, refused with a sentence else.
@Suite(.serialized) struct PassedSocketsTests {
    /// Where the "manager" of a test puts them: numbers that nothing else in this process takes.
    private static let first: CInt = 700
    private static let known = ["capture", "control"]

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory("passed") }

    private func environment(_ count: Int, _ names: String? = nil) -> [String: String] {
        var result = ["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "\(count)"]
        result["LISTEN_FDNAMES"] = names
        return result
    }

    /// Passes `descriptors` as a manager does: by number, not closed on exec.
    private func pass(_ descriptors: [CInt]) {
        for (index, descriptor) in descriptors.enumerated() { dup2(descriptor, Self.first + CInt(index)) }
    }

    private func passed(_ environment: [String: String]) throws -> PassedSockets {
        try PassedSockets(environment: environment, known: Self.known, first: Self.first)
    }

    private func isOpen(_ descriptor: CInt) -> Bool { fcntl(descriptor, F_GETFD) >= 0 }

    @Test func takesBothByName() throws {
        let paths = [folder.file("first"), folder.file("second")]
        let control = try UnixSocket.listen(path: paths[0], mode: 0o600)
        let capture = try UnixSocket.listen(path: paths[1], mode: 0o600)
        pass([control.raw, capture.raw])
        setenv("LISTEN_FDS", "2", 1)
        var sockets = try passed(environment(2, "control:capture"))
        #expect(getenv("LISTEN_FDS") == nil, "a child would take them for its own")
        #expect(sockets.names == Self.known)
        #expect(sockets.path(of: "capture") == paths[1])
        guard let taken = sockets.take("capture") else { throw Errno(EBADF) }
        #expect(taken.raw == Self.first + 1)
        #expect(fcntl(taken.raw, F_GETFD) & FD_CLOEXEC != 0)
        #expect(fcntl(taken.raw, F_GETFL) & O_NONBLOCK != 0)
        #expect(sockets.names == ["control"] && sockets.path(of: "capture") == nil)
        let client = try UnixSocket.connect(path: paths[1])
        let accepted = try UnixSocket.accept(taken)?.raw
        #expect(accepted != nil)
        withExtendedLifetime((client.raw, control.raw, capture.raw)) {}
    }

    /// systemd-socket-activate passes one without a name.
    @Test(arguments: [nil, "unknown", ""]) func oneWithoutAName(names: String?) throws {
        let listener = try UnixSocket.listen(path: folder.file("socket"), mode: 0o600)
        pass([listener.raw])
        do {
            let sockets = try passed(environment(1, names))
            #expect(sockets.names == ["capture"])
        }
        #expect(!isOpen(Self.first), "what nobody takes is closed")
        withExtendedLifetime(listener.raw) {}
    }

    /// What is not for this process is let alone.
    @Test func forAnotherProcess() throws {
        let listener = try UnixSocket.listen(path: folder.file("socket"), mode: 0o600)
        pass([listener.raw])
        defer { close(Self.first) }
        var environment = environment(1)
        environment["LISTEN_PID"] = "1"
        let sockets = try passed(environment)
        #expect(sockets.names.isEmpty)
        #expect(isOpen(Self.first))
        withExtendedLifetime(listener.raw) {}
    }

    @Test func nothing() throws {
        #expect(try passed([:]).names.isEmpty)
        #expect(try passed(environment(0)).names.isEmpty)
    }

    @Test(arguments: [
        ("stranger", "FileDescriptorName="), ("capture:control", "1 sockets and 2 names"),
    ]) func wrongNames(names: String, part: String) throws {
        let listener = try UnixSocket.listen(path: folder.file("socket"), mode: 0o600)
        pass([listener.raw])
        #expect(try refusal(environment(1, names)).contains(part))
        #expect(!isOpen(Self.first), "what is refused is closed")
        withExtendedLifetime(listener.raw) {}
    }

    @Test func twoOfOneName() throws {
        let listener = try UnixSocket.listen(path: folder.file("socket"), mode: 0o600)
        pass([listener.raw, listener.raw])
        #expect(try refusal(environment(2, "capture:capture")).contains("two sockets named capture"))
        #expect(!isOpen(Self.first) && !isOpen(Self.first + 1))
        withExtendedLifetime(listener.raw) {}
    }

    @Test func whatIsNoListeningUnixStreamSocket() throws {
        func refused(_ descriptor: CInt, _ part: String) throws {
            pass([descriptor])
            close(descriptor)
            let sentence = try refusal(environment(1, "capture"))
            #expect(sentence.contains(part) && sentence.contains("ListenStream="), "\(sentence)")
        }
        try refused(open("/dev/null", O_RDONLY), "is no socket")
        try refused(socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0), "is no Unix socket")
        try refused(socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0), "is no stream socket")
        try refused(socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0), "does not listen")
    }

    private func refusal(_ environment: [String: String]) throws -> String {
        do {
            _ = try passed(environment)
        } catch let error as PassedSockets.Unusable {
            return error.description
        }
        Issue.record("it was accepted")
        return ""
    }
}
