internal import CLinux
internal import Glibc

/// Memory that another process fills, mapped read-only.
///
/// The other process passes a memfd (memfd_create(2)) whose seals prevent it from shrinking and from losing pages.
/// Therefore no access causes SIGBUS, and reads allocate no pages that would be charged to us. The contents may change
/// at any time. `deinit` unmaps it. One thread at a time.
@safe package final class SharedMemory {
    package enum Refusal: Error, Equatable, CustomStringConvertible {
        /// Not a memfd, or without the seals against shrinking, growing and losing pages.
        case notSealed
        case wrongSize(announced: Int, real: Int)
        /// Pages from this offset were never written. A read would allocate them on our account.
        case hasHoles(at: Int)
        case system(Errno)

        package var description: String {
            switch self {
            case .notSealed:
                "it is no memfd with the seals F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_FUTURE_WRITE (or F_SEAL_WRITE)"
            case .wrongSize(let announced, let real): "it has \(real) bytes, not \(announced)"
            case .hasHoles(let offset): "the page at \(offset) has never been written; all must have been"
            case .system(let error): "it cannot be mapped: \(error)"
            }
        }
    }

    package let byteCount: Int
    private let base: UnsafeRawPointer
    private let mappedBytes: Int

    /// Readable zero bytes after the memory, for code that reads a vector beyond a row's end.
    private static let slack = 4096

    /// - Parameter descriptor: may be closed after this returns.
    package convenience init(_ descriptor: borrowing ForeignDescriptor, byteCount: Int) throws(Refusal) {
        try self.init(mapping: descriptor.raw, byteCount: byteCount)
    }

    /// - Parameter raw: may be closed after this returns.
    package init(mapping raw: CInt, byteCount: Int) throws(Refusal) {
        // The seals come first: sealed properties cannot change between the checks.
        guard upcast_is_sealed_for_reading(raw) == 1 else { throw .notSealed }
        var status = stat()
        guard unsafe fstat(raw, &status) == 0 else { throw .system(Errno.current) }
        guard byteCount > 0, status.st_size == byteCount else {
            throw .wrongSize(announced: byteCount, real: Int(status.st_size))
        }
        let hole = upcast_first_hole(raw)
        guard hole >= byteCount else { throw hole < 0 ? .system(Errno.current) : .hasHoles(at: Int(hole)) }

        let pages = (byteCount + 4095) & ~4095
        mappedBytes = pages + Self.slack
        // The guard pages prevent other mappings directly after it, and their bytes are zero.
        guard
            let room = unsafe mmap(nil, mappedBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            unsafe room != MAP_FAILED
        else { throw .system(Errno.current) }
        guard unsafe mmap(room, byteCount, PROT_READ, MAP_SHARED | MAP_FIXED, raw, 0) != MAP_FAILED else {
            let error = Errno.current
            unsafe munmap(room, mappedBytes)
            throw .system(error)
        }
        unsafe base = UnsafeRawPointer(room)
        self.byteCount = byteCount
    }

    deinit { unsafe munmap(UnsafeMutableRawPointer(mutating: base), mappedBytes) }

    /// A range of the memory; traps outside. Valid while this object lives. Up to 4096 bytes after it can be read.
    package func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "outside the shared memory")
        return unsafe UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
    }

    /// A word that the other process changes. Later reads see data at least as new.
    package func word(at offset: Int) -> UInt64 {
        precondition(offset >= 0 && offset % 8 == 0 && offset + 8 <= byteCount, "no word of the shared memory")
        return unsafe upcast_load_word(base + offset)
    }
}
