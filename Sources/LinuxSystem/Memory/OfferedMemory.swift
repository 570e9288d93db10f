internal import CLinux
internal import Glibc

/// Memory that another process may read: a memfd with a fixed size and fixed pages. Only this mapping is writable, and
/// those of a process that `prepare` has let map it. The counterpart of `SharedMemory`. The kernel frees it when
/// everybody has unmapped it.
@safe package final class OfferedMemory {
    package let byteCount: Int
    /// The whole memory; valid while this object lives.
    package var bytes: UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(start: base, count: byteCount)
    }
    private let base: UnsafeMutableRawPointer
    private let descriptor: OwnedDescriptor

    /// - Parameters:
    ///   - name: the name in /proc/PID/maps.
    ///   - byteCount: rounded up to whole pages. All are filled with zeros, so that reads allocate no page.
    ///   - prepare: lets somebody else map the memory for writing, which is not possible any more afterwards.
    package init(
        name: String, byteCount: Int, prepare: (CInt) throws(Errno) -> Void = { _ throws(Errno) in }
    ) throws(Errno) {
        let byteCount = (byteCount + 4095) & ~4095
        descriptor = try .memoryFile(name: name)
        guard ftruncate(descriptor.raw, byteCount) == 0 else { throw Errno.current }
        // After the seal, no new mapping can be writable; this one stays writable.
        guard
            let memory = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.raw, 0),
            unsafe memory != MAP_FAILED
        else { throw Errno.current }
        // Pages that are only allocated count as holes for the reader, so all are written. From here on, they are
        // mapped when they are used: what another process fills is not in this one's memory.
        unsafe memset(memory, 0, byteCount)
        unsafe madvise(memory, byteCount, MADV_DONTNEED)
        do throws(Errno) { try prepare(descriptor.raw) } catch {
            unsafe munmap(memory, byteCount)
            throw error
        }
        guard upcast_seal_for_reading(descriptor.raw) == 0 else {
            let error = Errno.current
            unsafe munmap(memory, byteCount)
            throw error
        }
        unsafe base = memory
        self.byteCount = byteCount
    }

    deinit { unsafe munmap(base, byteCount) }

    /// Sets the word at a multiple of eight. Readers see it before all later writes.
    package func setWord(at offset: Int, to value: UInt64) {
        precondition(offset >= 0 && offset % 8 == 0 && offset + 8 <= byteCount, "no word of the shared memory")
        unsafe upcast_store_word(base + offset, value)
    }

    /// Sends bytes over a Unix socket, with the memory's descriptor attached to the first one.
    ///
    /// - Returns: the number of bytes sent, at least one.
    package func send(with bytes: UnsafeRawBufferPointer, to socket: CInt) throws(Errno) -> Int {
        unsafe try UnixSocket.send(bytes, with: descriptor.raw, to: socket)
    }
}
