internal import Glibc

/// Whether what a process writes goes to the journal of systemd, which keeps time and priority itself.
package enum JournalStream {
    /// Standard error is the stream that JOURNAL_STREAM names ("device:inode", systemd.exec(5)). The variable alone
    /// does not say so: it is inherited, also where standard error has been sent elsewhere.
    package static func isStandardError(environment: [String: String], descriptor: CInt = STDERR_FILENO) -> Bool {
        guard let text = environment["JOURNAL_STREAM"] else { return false }
        let numbers = text.split(separator: ":").map { UInt64($0) }
        var status = stat()
        guard numbers.count == 2, unsafe fstat(descriptor, &status) == 0 else { return false }
        return numbers[0] == UInt64(status.st_dev) && numbers[1] == UInt64(status.st_ino)
    }
}
