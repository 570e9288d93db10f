import ControlClient
import Glibc
import LinuxSystem

/// The output of another program, kept in memory. At most `maxBytes` are read.
struct Capture: ~Copyable {
    static let maxBytes = 1 << 20

    /// Receives the program's output.
    let descriptor: OwnedDescriptor

    init() throws(ControlClientError) {
        // A pipe would deadlock: a full pipe blocks the program, and this process waits for the program to exit.
        do { descriptor = try OwnedDescriptor.memoryFile(name: "output") } catch {
            throw .unusable("cannot allocate memory for a program's output: \(error)")
        }
    }

    /// The output so far, as UTF-8.
    var text: String {
        var bytes = [UInt8](repeating: 0, count: Self.maxBytes)
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe pread(descriptor.raw, buffer.baseAddress, buffer.count, 0)
        }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
