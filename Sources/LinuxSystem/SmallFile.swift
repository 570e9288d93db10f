internal import Glibc

/// Whole files that are known to be small: keys, certificates, settings.
package enum SmallFile {
    package enum Failure: Error, CustomStringConvertible {
        case system(String, Errno)
        case tooLarge(String, Int)

        package var description: String {
            switch self {
            case .system(let path, let error): "cannot read \(path): \(error)"
            case .tooLarge(let path, let limit): "\(path) has more than \(limit) bytes, which is more than it should have"
            }
        }
    }

    /// The file's bytes, at most `limit` of them.
    package static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        let fd = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard fd >= 0 else { throw .system(path, Errno.current) }
        let descriptor = OwnedDescriptor(fd)
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(descriptor.raw, buffer.baseAddress! + count, buffer.count - count)
            }
            if got < 0 {
                if errno == EINTR { continue }
                throw .system(path, Errno.current)
            }
            if got == 0 { break }
            count += got
        }
        guard count <= limit else { throw .tooLarge(path, limit) }
        return Array(bytes.prefix(count))
    }
}
