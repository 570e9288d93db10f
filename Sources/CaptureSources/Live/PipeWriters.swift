internal import Glibc

/// Finds the programs that write to pipes, as far as /proc shows them to this user.
package enum PipeWriters {
    private static let maxEntries = 4096

    /// Whether one process of a program writes to all of the pipes.
    ///
    /// - Parameter program: the name of the process, as in /proc/PID/comm.
    package static func isOne(_ program: String, of pipes: [FileInput]) -> Bool {
        names(in: "/proc").contains { process in
            guard process.first?.isNumber == true, name(of: process) == program else { return false }
            return pipes.allSatisfy { writes(process, to: $0) }
        }
    }

    private static func writes(_ process: String, to pipe: FileInput) -> Bool {
        let wanted = pipe.identity
        let folder = "/proc/\(process)/fd"
        return names(in: folder).contains { entry in
            var (link, file) = (stat(), stat())
            let path = "\(folder)/\(entry)"
            // The link's mode is the file's open mode. A process that reads one pipe may write to the other.
            guard unsafe lstat(path, &link) == 0, link.st_mode & S_IWUSR != 0, unsafe stat(path, &file) == 0 else {
                return false
            }
            return file.st_dev == wanted.device && file.st_ino == wanted.inode
        }
    }

    private static func name(of process: String) -> String? {
        let descriptor = unsafe open("/proc/\(process)/comm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress!, $0.count) }
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while names.count < maxEntries, let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
