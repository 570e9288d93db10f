internal import Glibc
internal import LinuxSystem

/// The file in which a `PrivacyRecord` outlives the daemon (`privacy.state_file`).
///
/// It is replaced as a whole: a crash leaves either the old record or the new one. One thread at a time.
package struct PrivacyStateFile: Sendable {
    /// What is there at the start.
    enum Finding: Equatable, Sendable {
        case nothing
        case record(PrivacyRecord)
        /// Why, and where the file was put; nil where it could not be moved.
        case unreadable(why: String, keptAs: String?)
    }

    /// Three times what the largest record takes.
    static let maxBytes = 384 << 10
    /// Files that could not be read, beside this one; the last place is used again.
    static let mostKept = 9

    /// Tells a file that this daemon has written from any other in its place.
    struct Mark: Equatable, Sendable {
        var device: UInt
        var inode: UInt
        var size: Int
        /// When its contents were changed.
        var seconds: Int
        var nanoseconds: Int
    }

    package let path: String
    private let folder: String
    private var lock: StateFileLock?
    /// Written, and not in its place yet.
    private var newPath: String { path + ".new" }

    /// - Throws: a sentence where the file's folder does not take it.
    package init(path: String) throws(StateFileFailure) {
        self.path = path
        folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard unsafe access(folder, W_OK | X_OK) == 0 else {
            throw StateFileFailure(
                sentence: "privacy.state_file: cannot write to the folder \(folder): \(Errno.current); create it as "
                    + "this user's (in a systemd unit StateDirectory=), or leave the key empty")
        }
    }

    /// Keeps other daemons from this file, for as long as this value or a copy of it lives. Two that wrote the same
    /// file would each make the other forget what is hidden.
    ///
    /// - Throws: a sentence where another one has it.
    package mutating func takeLock() throws(StateFileFailure) {
        // The file itself is replaced at each write, and a lock would go with the old one.
        lock = try StateFileLock(path: path + ".lock")
    }

    // MARK: Reading

    /// Of the file that is in place; nil for none.
    func mark() -> Mark? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        return Mark(
            device: UInt(status.st_dev), inode: UInt(status.st_ino), size: Int(status.st_size),
            seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }

    /// What is there. A file that cannot be read is moved aside, so that nothing overwrites it.
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

    /// Nil where there is no file.
    private func read() throws(StateFileFailure) -> [UInt8]? {
        func failure(_ what: String) -> StateFileFailure { StateFileFailure(sentence: what) }
        // Neither a symbolic link nor a pipe that nobody writes to is waited for.
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
        // A volume of Kubernetes gives its files to the daemon's own group (fsGroup), for writing as well.
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

    /// Moves the file to the first free of nine names; where all are taken, to the last.
    private func setAside() -> String? {
        let names = (1...Self.mostKept).map { path + ".unreadable" + ($0 == 1 ? "" : ".\($0)") }
        var status = stat()
        let free = names.first { unsafe lstat($0, &status) != 0 } ?? names[Self.mostKept - 1]
        return unsafe rename(path, free) == 0 ? free : nil
    }

    // MARK: Writing

    /// Puts the record in the place of the one that is there. When it returns, the record is on the disk.
    package func write(_ record: PrivacyRecord) throws(StateFileFailure) {
        try prepare(record)
        try commit()
    }

    /// Writes the record beside the file, down to the disk.
    func prepare(_ record: PrivacyRecord) throws(StateFileFailure) {
        let bytes = record.serialized
        guard bytes.count <= Self.maxBytes else {
            throw StateFileFailure(sentence: "the record has \(bytes.count) bytes, more than \(Self.maxBytes)")
        }
        // What a daemon that was killed has left there.
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

    /// Puts what was prepared in its place. The folder is written, too: otherwise the name might not outlive a power
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
