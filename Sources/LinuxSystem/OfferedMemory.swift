internal import CLinux
internal import Glibc

/// Memory of ours that another process may read: a memfd that keeps its size and its pages, mapped for writing here and
/// nowhere else. The other side of `SharedMemory`. Freed when both have let it go.
@safe package final class OfferedMemory {
    package let byteCount: Int
    /// All of it; valid while this object lives.
    package var bytes: UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(start: base, count: byteCount)
    }
    private let base: UnsafeMutableRawPointer
    private let descriptor: OwnedDescriptor

    /// - Parameters:
    ///   - name: for /proc/PID/maps.
    ///   - byteCount: rounded up to whole pages; all are filled with zeros, so that reading makes none.
    package init(name: String, byteCount: Int) throws(Errno) {
        let byteCount = (byteCount + 4095) & ~4095
        descriptor = try .memoryFile(name: name)
        guard ftruncate(descriptor.raw, byteCount) == 0 else { throw Errno.current }
        // Once it is sealed, no further mapping can be written to: this one stays.
        guard
            let memory = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.raw, 0),
            unsafe memory != MAP_FAILED
        else { throw Errno.current }
        unsafe memset(memory, 0, byteCount)
        guard upcast_seal_for_reading(descriptor.raw) == 0 else {
            let error = Errno.current
            unsafe munmap(memory, byteCount)
            throw error
        }
        unsafe base = memory
        self.byteCount = byteCount
    }

    deinit { unsafe munmap(base, byteCount) }

    /// Sets the word at a multiple of eight, before anything that is written afterwards.
    package func setWord(at offset: Int, to value: UInt64) {
        precondition(offset >= 0 && offset % 8 == 0 && offset + 8 <= byteCount, "no word of the shared memory")
        unsafe upcast_store_word(base + offset, value)
    }

    /// Sends bytes over a Unix socket, the memory with the first of them.
    ///
    /// - Returns: how many bytes were taken, at least one.
    package func send(with bytes: UnsafeRawBufferPointer, to socket: CInt) throws(Errno) -> Int {
        unsafe try UnixSocket.send(bytes, with: descriptor.raw, to: socket)
    }
}
