internal import Glibc
internal import LinuxSystem

/// A source of bytes: a file, a pipe, or a test's memory.
package protocol ByteInput: AnyObject {
    /// Reads at least one byte and at most the size of the buffer. Returns 0 at the end, or after a stop.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int
    /// Returns to the first byte; false for a pipe.
    func rewind() -> Bool
}

/// A file, a pipe or standard input. One thread reads; a stop interrupts its wait.
package final class FileInput: ByteInput, Sendable {
    private let descriptor: OwnedDescriptor
    /// The name in messages.
    package let name: String
    private let stop: StopSignal
    private let isStandardInput: Bool
    /// Device and inode, which tell this file or pipe from all others.
    let identity: (device: dev_t, inode: ino_t)
    /// Whether the bytes are produced while they are read, as in a pipe.
    package let isLive: Bool

    /// - Parameters:
    ///   - path: `-` for standard input.
    ///   - stop: interrupts a read that waits for a pipe.
    /// - Throws: for what cannot be opened, for folders, and for terminals as standard input.
    package init(path: String, stop: StopSignal) throws(InputError) {
        isStandardInput = path == "-"
        name = isStandardInput ? "standard input" : path
        self.stop = stop
        // Without O_NONBLOCK, `open` would wait for the writer of a named pipe, and a stop could not interrupt it.
        let fd = unsafe path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard fd >= 0 else { throw InputError("cannot open \(name): \(Errno.current)", namesInput: true) }
        descriptor = OwnedDescriptor(fd)
        let status = try Self.status(of: fd, name)
        identity = (status.st_dev, status.st_ino)
        isLive = status.st_mode & S_IFMT != S_IFREG
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw InputError("\(name) is a folder; name a file or a pipe", namesInput: true)
        }
        guard !isStandardInput || isatty(fd) == 0 else {
            throw InputError(
                "standard input is a terminal; pipe a stream into it, or name a file", namesInput: true)
        }
    }

    private static func status(of descriptor: CInt, _ name: String) throws(InputError) -> stat {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw InputError("cannot read \(name): \(Errno.current)", namesInput: true)
        }
        return status
    }

    /// Whether this is a regular file with a name. Such a file can be read again at any offset.
    package var isMappable: Bool { !isStandardInput && !isLive }

    /// The current size of a regular file, in bytes.
    var size: Int {
        get throws(InputError) { Int(try Self.status(of: descriptor.raw, name).st_size) }
    }

    /// Maps the first `byteCount` bytes of a regular file, which must be at least that large.
    func map(byteCount: Int) throws(InputError) -> FileMapping {
        do {
            return try FileMapping(descriptor.raw, byteCount: byteCount)
        } catch {
            throw InputError("cannot map \(name): \(error)", namesInput: true)
        }
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        while true {
            guard waitForInput() else { return 0 }
            let count = unsafe Glibc.read(descriptor.raw, buffer.baseAddress!, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR || errno == EAGAIN else {
                throw InputError("cannot read \(name): \(Errno.current)", namesInput: true)
            }
        }
    }

    /// Reads ahead, and returns to where that began. Only for regular files.
    package func lookAhead(_ read: () throws -> Void) rethrows {
        let start = lseek(descriptor.raw, 0, SEEK_CUR)
        defer { _ = lseek(descriptor.raw, start, SEEK_SET) }
        try read()
    }

    package func rewind() -> Bool { lseek(descriptor.raw, 0, SEEK_SET) == 0 }

    /// Waits until the input can be read. False if the stop signal came first. Regular files are always ready.
    private func waitForInput() -> Bool {
        var waiting = (
            pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0)
        )
        while true {
            let ready = unsafe withUnsafeMutableBytes(of: &waiting) {
                unsafe poll($0.assumingMemoryBound(to: pollfd.self).baseAddress!, 2, -1)
            }
            if ready > 0 { return waiting.1.revents == 0 }
            if ready < 0, errno != EINTR { return false }
        }
    }
}
