import Foundation
import Glibc
import LinuxSystem

/// A folder of its own for one test, removed with everything in it when the owner goes away.
///
/// `UPCAST_KEEP_TEST_FILES=1` in the environment leaves it in place, to look into a failure; `UPCAST_TEST_FOLDER` is
/// where it is made, /tmp by default.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init(_ label: String = "test") throws {
        // Short, because a Unix socket's path has at most 107 bytes.
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

    /// A file's bytes, read by hand: Foundation's Data leaks its buffer where the file is empty.
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
