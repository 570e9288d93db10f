import Glibc
import Grabbing
import LinuxSystem
import ScreenCapture

/// Reads what /proc says of a process, and files with rules.
enum ProcessFacts {
    private static let maxBytes = 64 << 10

    /// The kernel cuts the name of a process at this many bytes.
    private static let commBytes = 15

    /// A process; nil if it is gone or not of this system, or if its whole name is not known.
    ///
    /// Called when windows change, not for frames. Nothing is cached: a process may change its name, and reading its
    /// start time, to recognize it, takes longer than reading its name.
    @Sendable static func look(_ process: UInt32) -> WindowRules.Process? {
        let folder = "/proc/\(process)"
        var status = stat()
        guard unsafe stat(folder, &status) == 0, let line = read(folder + "/comm", upTo: 64) else { return nil }
        let name = wholeName(
            String(line.prefix { $0 != "\n" }), commandLine: read(folder + "/cmdline", upTo: 4096) ?? "")
        let user = status.st_uid
        return name.map { WindowRules.Process(name: $0, user: self.name(ofUser: user)) }
    }

    /// Nil for the number that stands for all users of other user namespaces.
    static func name(ofUser number: uid_t) -> String? {
        number == UserNamespace.overflowUser ? nil : AccountNames.name(user: number)
    }

    /// - Parameters:
    ///   - name: as the kernel has it: cut at 15 bytes.
    ///   - commandLine: words that end with 0, among them the path of the program, or of the script that an interpreter
    ///     runs. Read only if the name may be cut.
    /// - Returns: nil if the rest of the name is not known.
    static func wholeName(_ name: String, commandLine: @autoclosure () -> String) -> String? {
        guard name.utf8.count >= commBytes else { return name }
        let words = commandLine().split(separator: "\0").prefix(3)
        return words.map { $0.split(separator: "/").last ?? $0 }.first { $0.hasPrefix(name) }.map { String($0) }
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
