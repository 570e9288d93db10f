import Foundation
import Glibc
import LinuxSystem
import MediaCore
import Testing

/// A folder that goes away with its owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "upcast-publishing-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
    func bytes(of name: String) throws -> [UInt8] { try [UInt8](Data(contentsOf: URL(filePath: file(name)))) }
    func write(_ text: String, to name: String) throws {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
    }
}

/// A program of the system's that serves a test; it is ended with its owner, by its own process number.
final class TestProcess {
    private let process = Process()

    init(_ program: String, _ arguments: [String]) throws {
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }
    deinit { kill() }

    func signal(_ number: CInt) { if process.isRunning { Glibc.kill(process.processIdentifier, number) } }

    func kill() {
        signal(SIGKILL)
        process.waitUntilExit()
    }

    /// Runs a program to its end and returns what it printed on either stream.
    @discardableResult
    static func output(of program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self)
        try #require(process.terminationStatus == 0, "\(program) \(arguments): \(text)")
        return text
    }
}

/// Ports on the loopback address.
enum Loopback {
    /// A port that nobody listens at now.
    static func freePort() throws -> UInt16 {
        let descriptor = try OwnedDescriptor(checking: socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0))
        return try bind(descriptor.raw)
    }

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
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            address.sin_port = port.bigEndian
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
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
