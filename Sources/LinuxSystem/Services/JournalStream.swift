internal import Glibc

/// Whether output goes to the systemd journal, which adds time and priority itself.
package enum JournalStream {
    /// Whether standard error is the stream in JOURNAL_STREAM ("device:inode", systemd.exec(5)). The variable alone is
    /// not enough: processes inherit it even if their standard error is redirected.
    package static func isStandardError(environment: [String: String], descriptor: CInt = STDERR_FILENO) -> Bool {
        guard let text = environment["JOURNAL_STREAM"] else { return false }
        let numbers = text.split(separator: ":").map { UInt64($0) }
        var status = stat()
        guard numbers.count == 2, unsafe fstat(descriptor, &status) == 0 else { return false }
        return numbers[0] == UInt64(status.st_dev) && numbers[1] == UInt64(status.st_ino)
    }
}
