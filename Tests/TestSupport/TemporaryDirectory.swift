import Foundation
import Glibc
import LinuxSystem

/// A folder for one test, which is removed with its content when the owner is released.
///
/// `UPCAST_KEEP_TEST_FILES=1` in the environment keeps it, to examine a failure. It is created in `UPCAST_TEST_FOLDER`,
/// by default /tmp.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init(_ label: String = "test") throws {
        // The path is short, because that of a Unix socket has at most 107 bytes.
        let base = ProcessInfo.processInfo.environment["UPCAST_TEST_FOLDER"] ?? "/tmp"
        path = "\(base)/upcast-\(label)-\(UUID().uuidString.prefix(8).lowercased())"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        guard ProcessInfo.processInfo.environment["UPCAST_KEEP_TEST_FILES"] == nil else { return }
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of `name` inside.
    package func file(_ name: String) -> String { path + "/" + name }

    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
        return file(name)
    }

    /// The bytes of a file, read by hand, because Foundation's Data leaks its buffer if the file is empty.
    package func bytes(of name: String) throws -> [UInt8] {
        let descriptor = try OwnedDescriptor(checking: open(file(name), O_RDONLY | O_CLOEXEC))
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor.raw, &buffer, buffer.count)
            guard count >= 0 else { throw Errno.current }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }
}
