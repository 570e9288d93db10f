internal import CLinux
internal import Glibc

/// Memory that another process fills, mapped read-only.
///
/// It comes as a memfd (memfd_create(2)) whose seals say that it can neither shrink nor lose pages: then no access here
/// can end in a SIGBUS, and no page of it is ever made, and counted, on our account. Its contents may change any time.
/// Unmapped when it goes away; one thread at a time.
@safe package final class SharedMemory {
    /// Why memory is refused.
    package enum Refusal: Error, Equatable, CustomStringConvertible {
        /// Not a memfd, or one that can still shrink, grow or lose pages.
        case notSealed
        case wrongSize(announced: Int, real: Int)
        /// Pages from there on were never written: reading would make them ours.
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

    /// Bytes of nothing behind the memory, for code that reads a vector beyond a row's end.
    private static let slack = 4096

    /// - Parameter descriptor: the mapping does without it.
    package convenience init(_ descriptor: borrowing ForeignDescriptor, byteCount: Int) throws(Refusal) {
        try self.init(mapping: descriptor.raw, byteCount: byteCount)
    }

    /// - Parameter raw: open until this returns; the mapping does without it.
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

    /// Bytes of it; the range must lie inside. Valid while this object lives. Up to 4096 bytes behind it can be read.
    package func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "outside the shared memory")
        return unsafe UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
    }

    /// A word that the other side changes; what is read afterwards is not older than it.
    package func word(at offset: Int) -> UInt64 {
        precondition(offset >= 0 && offset % 8 == 0 && offset + 8 <= byteCount, "no word of the shared memory")
        return unsafe upcast_load_word(base + offset)
    }
}
