import Foundation
import Glibc
import LinuxSystem
import MediaCore
import TestSupport
import Testing

/// A program of the system's that serves a test; it is ended with its owner, by its own process number.
///
/// posix_spawn, because Foundation's Process leaks a few bytes a run, which LeakSanitizer reports.
final class TestProcess {
    private let id: pid_t
    private var status: CInt?

    /// - Parameter output: a file that takes both output streams.
    init(_ program: String, _ arguments: [String], output: String = "/dev/null") throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var strings: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for string in strings { free(string) } }
        var id = pid_t()
        let result = posix_spawn(&id, program, &actions, nil, &strings, environ)
        guard result == 0 else { throw Errno(result) }
        self.id = id
    }
    deinit { kill() }

    func signal(_ number: CInt) { if status == nil { Glibc.kill(id, number) } }

    func kill() {
        signal(SIGKILL)
        wait()
    }

    /// Waits for the program's end; its status as `waitpid` gives it.
    @discardableResult
    func wait() -> CInt {
        if let status { return status }
        var status: CInt = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        self.status = status
        return status
    }

    /// Runs a program to its end and returns what it printed on either stream.
    @discardableResult
    static func output(of program: String, _ arguments: [String]) throws -> String {
        let folder = try TemporaryDirectory("publishing")
        let status = try TestProcess(program, arguments, output: folder.file("output")).wait()
        let text = String(decoding: try folder.bytes(of: "output"), as: UTF8.self)
        try #require(status == 0, "\(program) \(arguments): \(text)")
        return text
    }
}

/// Ports on the loopback address.
enum Loopback {
    /// A port that nobody listens at now.
    static func freePort() throws -> UInt16 { UInt16(try LoopbackPorts.free()) }

    /// Binds to a free port of 127.0.0.1.
    static func bind(_ descriptor: CInt) throws -> UInt16 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard result else { throw Errno.current }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Connects again and again until somebody answers at the port.
    static func waitForListener(at port: UInt16) throws {
        try waitUntil("somebody listens at port \(port)") {
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            return connect(descriptor, to: port)
        }
    }

    /// Connects a socket to a port of 127.0.0.1.
    @discardableResult
    static func connect(_ descriptor: CInt, to port: UInt16) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}

extension Loopback {
    /// Waits for a listener that takes one connection only, by looking at the kernel's table instead of connecting.
    static func waitForOneShotListener(at port: UInt16) throws {
        let hexadecimal = String(port, radix: 16, uppercase: true)
        let entry = ":" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal + " 00000000:0000 0A"
        try waitUntil("somebody listens at port \(port)") {
            let table = FileManager.default.contents(atPath: "/proc/net/tcp") ?? Data()
            return String(decoding: table, as: UTF8.self).contains(entry)
        }
    }
}

/// For what another process does: asks until the condition holds, and fails the test after a generous time.
func waitUntil(_ what: String, _ condition: () throws -> Bool) throws {
    let deadline = MonotonicClock().now() + .seconds(30)
    while MonotonicClock().now() < deadline {
        if try condition() { return }
        usleep(10_000)
    }
    Issue.record("waited in vain until \(what)")
    throw WaitedInVain()
}

struct WaitedInVain: Error {}
