internal import Glibc
internal import LinuxSystem
internal import MediaCore

/// A newly created file, or an existing pipe or device, opened for writing. One thread.
final class OutputFile {
    /// The path that was created, with the number that made it unique.
    let path: String
    let number: Int
    /// Whether the file was created here, so that it is neither a pipe nor a device.
    let isRegular: Bool
    let isSeekable: Bool
    private let descriptor: OwnedDescriptor

    /// The highest number that is tried.
    private static let maximumNumber = 99_999

    /// Creates `path`, or the first free name with a number before the extension. Opens pipes and devices.
    ///
    /// - Parameter first: the number to try first; 1 stands for the unchanged path.
    init(creating path: String, from first: Int = 1) throws(PublishError) {
        for number in first..<(Self.maximumNumber + 1) {
            let candidate = number == 1 ? path : Self.numbered(path, number)
            // Non-blocking, so that a pipe without a reader fails and does not hang. Has no effect on files.
            let flags = O_WRONLY | O_CLOEXEC | O_NONBLOCK
            var raw = unsafe Glibc.open(candidate, flags | O_CREAT | O_EXCL, 0o644)
            let isCreated = raw >= 0
            if raw < 0, Errno.current.code == EEXIST {
                switch Self.kind(of: candidate) {
                case S_IFREG: continue
                case S_IFIFO, S_IFCHR: raw = unsafe Glibc.open(candidate, flags)
                default: throw PublishError(.file, "\(candidate) exists and is not a file; it was left alone")
                }
            }
            guard raw >= 0 else { throw PublishError(.file, "cannot create \(candidate): \(Errno.current)") }
            descriptor = OwnedDescriptor(raw)
            self.path = candidate
            self.number = number
            isRegular = isCreated
            isSeekable = lseek(raw, 0, SEEK_CUR) >= 0
            return
        }
        throw PublishError(.file, "cannot create \(path): \(Self.maximumNumber) files of that name exist")
    }

    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// "a/show.flv" and 2 become "a/show-2.flv".
    static func numbered(_ path: String, _ number: Int) -> String {
        let nameStart = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        guard let dot = path[nameStart...].lastIndex(of: "."), dot > nameStart else { return "\(path)-\(number)" }
        return "\(path[..<dot])-\(number)\(path[dot...])"
    }

    /// Writes all of `bytes`; waits for a full pipe until `deadline`.
    func write(
        _ bytes: UnsafeRawBufferPointer, control: PublishControl, until deadline: MediaTime
    ) throws(PublishError) {
        var done = 0
        while done < bytes.count {
            let count = unsafe Glibc.write(descriptor.raw, bytes.baseAddress! + done, bytes.count - done)
            if count >= 0 {
                done += count
                continue
            }
            let error = Errno.current
            switch error.code {
            case EINTR: continue
            case EAGAIN:
                switch control.wait(for: POLLOUT, on: descriptor.raw, until: deadline) {
                case .ready: continue
                case .timeout: throw PublishError(.sendTimeout, "the reader of \(path) takes nothing")
                case .cancelled: throw PublishError(.cancelled, "writing to \(path) was cancelled")
                }
            default: throw PublishError(.file, "cannot write to \(path): \(error)")
            }
        }
    }

    /// Overwrites eight bytes with a big-endian Double.
    func overwrite(_ value: Double, at offset: Int) throws(PublishError) {
        var bits = value.bitPattern.bigEndian
        guard unsafe pwrite(descriptor.raw, &bits, 8, off_t(offset)) == 8 else {
            throw PublishError(.file, "cannot complete \(path): \(Errno.current)")
        }
    }

    /// Waits until written data is on the disk.
    func sync() throws(PublishError) {
        // Some file systems do not support fdatasync.
        guard isRegular, fdatasync(descriptor.raw) != 0, Errno.current.code != EINVAL else { return }
        throw PublishError(.file, "cannot bring \(path) to the disk: \(Errno.current)")
    }

    /// Forces the directory entry to the disk. Without it, the file's contents survive but not its name.
    func syncFolder() {
        guard isRegular else { return }
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let raw = unsafe Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard raw >= 0 else { return }
        let folderDescriptor = OwnedDescriptor(raw)
        fsync(folderDescriptor.raw)
    }

    /// Removes the file if it was created here.
    func remove() { if isRegular { _ = unsafe unlink(path) } }

    /// Cuts off an incomplete tag. Ignores errors.
    func truncate(to bytes: Int) { if isSeekable { ftruncate(descriptor.raw, off_t(bytes)) } }
}
