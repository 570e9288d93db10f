internal import Glibc
internal import LinuxSystem

/// The file in which a `PrivacyRecord` outlives the daemon (`privacy.state_file`).
///
/// It is replaced as a whole, so a crash leaves either the old record or the new one. One thread at a time.
package struct PrivacyStateFile: Sendable {
    /// The result of reading at the start.
    enum Finding: Equatable, Sendable {
        case nothing
        case record(PrivacyRecord)
        /// The reason, and the name under which the file is kept; nil if it has no other name.
        case unreadable(why: String, keptAs: String?)
    }

    /// Three times the size of the largest record.
    static let maxBytes = 384 << 10
    /// The maximum number of unreadable files that are kept beside this one. The last one is overwritten.
    static let mostKept = 9

    /// Distinguishes a file that this daemon has written from any other file in its place.
    struct Mark: Equatable, Sendable {
        var device: UInt
        var inode: UInt
        var size: Int
        /// When the contents were last changed.
        var seconds: Int
        var nanoseconds: Int
    }

    package let path: String
    private let folder: String
    private var lock: StateFileLock?
    /// The path of a written file that is not in its place yet.
    private var newPath: String { path + ".new" }

    /// - Throws: a sentence if the file cannot be created in its folder.
    package init(path: String) throws(StateFileFailure) {
        self.path = path
        folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard unsafe access(folder, W_OK | X_OK) == 0 else {
            throw StateFileFailure(
                sentence: "privacy.state_file: cannot write to the folder \(folder): \(Errno.current); create it as "
                    + "this user's (in a systemd unit StateDirectory=), or leave the key empty")
        }
    }

    /// Locks the file against other daemons, for as long as this value or a copy of it lives. If two daemons wrote the
    /// same file, each would lose the holds of the other.
    ///
    /// - Throws: a sentence if another process has the lock.
    package mutating func takeLock() throws(StateFileFailure) {
        // A lock on the file itself would be lost, because each write replaces the file.
        lock = try StateFileLock(path: path + ".lock")
    }

    // MARK: Reading

    /// The mark of the file in place; nil if there is none.
    func mark() -> Mark? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        return Mark(
            device: UInt(status.st_dev), inode: UInt(status.st_ino), size: Int(status.st_size),
            seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }

    /// Reads the file. A file that cannot be read gets a second name, so that no record overwrites it. It stays in its
    /// place until the first record is written: if the daemon ends before that, the next one cannot read it either, and
    /// hides everything as well.
    func find() -> Finding {
        do throws(StateFileFailure) {
            guard let bytes = try read() else { return .nothing }
            do { return .record(try PrivacyRecord(parsing: bytes)) } catch {
                throw StateFileFailure(sentence: error.what)
            }
        } catch {
            return .unreadable(why: error.sentence, keptAs: setAside())
        }
    }

    /// Nil if there is no file.
    private func read() throws(StateFileFailure) -> [UInt8]? {
        func failure(_ what: String) -> StateFileFailure { StateFileFailure(sentence: what) }
        // The flags refuse symbolic links, and do not wait for a pipe without a writer.
        let raw = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard raw >= 0 else {
            let error = Errno.current
            if error.code == ENOENT { return nil }
            throw failure(error.code == ELOOP ? "it is a symbolic link" : "it cannot be opened: \(error)")
        }
        let file = OwnedDescriptor(raw)
        var status = stat()
        guard unsafe fstat(file.raw, &status) == 0 else { throw failure("it cannot be looked at: \(Errno.current)") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw failure("it is no regular file") }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw failure("it belongs to user \(status.st_uid), and the daemon runs as user \(geteuid())")
        }
        // Kubernetes volumes give their files to the daemon's own group (fsGroup), with write permission.
        guard status.st_mode & S_IWOTH == 0, status.st_mode & S_IWGRP == 0 || status.st_gid == getegid() else {
            throw failure("others may write to it")
        }
        guard status.st_size <= Self.maxBytes else {
            throw failure("it has \(status.st_size) bytes, and a record has at most \(Self.maxBytes)")
        }
        var bytes = [UInt8](repeating: 0, count: Self.maxBytes + 1)
        var count = 0
        while count < bytes.count {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(file.raw, buffer.baseAddress! + count, buffer.count - count)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw failure("it cannot be read: \(Errno.current)") }
            if got == 0 { break }
            count += got
        }
        guard count <= Self.maxBytes else { throw failure("it has more than \(Self.maxBytes) bytes") }
        return Array(bytes.prefix(count))
    }

    /// Gives the file the first free of nine names or, if all are taken, the last one.
    private func setAside() -> String? {
        let names = (1...Self.mostKept).map { path + ".unreadable" + ($0 == 1 ? "" : ".\($0)") }
        guard let here = identity(path) else { return nil }
        // An earlier daemon has already given it a name.
        if let kept = names.first(where: { identity($0).map { $0 == here } ?? false }) { return kept }
        let free = names.first { identity($0) == nil } ?? names[Self.mostKept - 1]
        unsafe unlink(free)
        if unsafe link(path, free) == 0 { return free }
        // link(2) refuses folders and, usually, files of another user. The file is exchanged for an empty one, which is
        // no record.
        unsafe unlink(newPath)
        let raw = unsafe open(newPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard raw >= 0 else { return nil }
        _ = OwnedDescriptor(raw)
        guard FileExchange.exchange(newPath, path) else {
            unsafe unlink(newPath)
            return nil
        }
        return unsafe rename(newPath, free) == 0 ? free : nil
    }

    /// The device and the inode of a file; nil if there is none.
    private func identity(_ path: String) -> (UInt, UInt)? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? (UInt(status.st_dev), UInt(status.st_ino)) : nil
    }

    // MARK: Writing

    /// Replaces the current record. When it returns, the record is on the disk.
    package func write(_ record: PrivacyRecord) throws(StateFileFailure) {
        try prepare(record)
        try commit()
    }

    /// Writes the record to a new file beside the current one, and syncs it to the disk.
    func prepare(_ record: PrivacyRecord) throws(StateFileFailure) {
        let bytes = record.serialized
        guard bytes.count <= Self.maxBytes else {
            throw StateFileFailure(sentence: "the record has \(bytes.count) bytes, more than \(Self.maxBytes)")
        }
        // A killed daemon may have left a file there.
        unsafe unlink(newPath)
        let raw = unsafe open(newPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard raw >= 0 else { throw StateFileFailure("cannot create", newPath, Errno.current) }
        let file = OwnedDescriptor(raw)
        var count = 0
        while count < bytes.count {
            let put = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(file.raw, buffer.baseAddress! + count, buffer.count - count)
            }
            if put < 0, errno == EINTR { continue }
            guard put > 0 else {
                throw StateFileFailure("cannot write to", newPath, put < 0 ? Errno.current : Errno(ENOSPC))
            }
            count += put
        }
        guard fsync(file.raw) == 0 else { throw StateFileFailure("cannot write to", newPath, Errno.current) }
    }

    /// Moves the prepared file to its place, and syncs the folder. Without that, the name might not survive a power
    /// failure.
    func commit() throws(StateFileFailure) {
        guard unsafe rename(newPath, path) == 0 else {
            throw StateFileFailure("cannot replace", path, Errno.current)
        }
        let raw = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard raw >= 0 else { throw StateFileFailure("cannot open the folder", folder, Errno.current) }
        let directory = OwnedDescriptor(raw)
        guard fsync(directory.raw) == 0 else {
            throw StateFileFailure("cannot write to the folder", folder, Errno.current)
        }
    }
}

/// Why the state file cannot be used, as a sentence.
package struct StateFileFailure: Error, Equatable, CustomStringConvertible {
    package let sentence: String
    package var description: String { sentence }

    init(sentence: String) { self.sentence = sentence }

    init(_ what: String, _ path: String, _ error: Errno) { sentence = "\(what) \(path): \(error)" }
}
