import Glibc
import LinuxSystem
import ScreenCapture

/// What /proc says of a process, and the rules of a file.
enum ProcessFacts {
    private static let maxBytes = 64 << 10

    /// The name of a process and of its user; nil if it is gone, or not of this system.
    @Sendable static func look(_ process: UInt32) -> (name: String, user: String)? {
        let folder = "/proc/\(process)"
        var status = stat()
        guard unsafe stat(folder, &status) == 0, let name = read(folder + "/comm", upTo: 64) else { return nil }
        return (String(name.prefix { $0 != "\n" }), AccountNames.name(user: status.st_uid))
    }

    /// - Throws: for a file that cannot be read, or is too large.
    static func text(of file: String) throws(ScreenError) -> String {
        guard let text = read(file, upTo: maxBytes) else {
            throw ScreenError("cannot read \(file), which says what to hide: \(Errno.current)")
        }
        guard text.utf8.count < maxBytes else { throw ScreenError("\(file) has more than \(maxBytes) bytes") }
        return text
    }

    private static func read(_ path: String, upTo limit: Int) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < limit {
            let got = unsafe bytes.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress! + count, limit - count)
            }
            guard got >= 0 else { return nil }
            if got == 0 { break }
            count += got
        }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
