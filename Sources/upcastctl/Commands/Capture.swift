import ControlClient
import Glibc
import LinuxSystem

/// What another program writes, kept in memory; at most `maxBytes` of it are read.
struct Capture: ~Copyable {
    static let maxBytes = 1 << 20

    /// For the program's output.
    let descriptor: OwnedDescriptor

    init() throws(ControlClientError) {
        // No pipe: a program that fills one waits for its reader, and its reader waits for its end.
        do { descriptor = try OwnedDescriptor.memoryFile(name: "output") } catch {
            throw .unusable("there is no memory for a program's output: \(error)")
        }
    }

    /// What has been written so far, as UTF-8.
    var text: String {
        var bytes = [UInt8](repeating: 0, count: Self.maxBytes)
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe pread(descriptor.raw, buffer.baseAddress, buffer.count, 0)
        }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
