internal import CLinux
internal import Glibc

/// The beginning of a regular file, mapped for reading: the bytes of the page cache, without a copy.
///
/// The file may change and shrink at any time. Bytes that it no longer has, or that its disk cannot read, read as
/// zeros, and `isWhole` is false from then on. SIGBUS does not end the process. This covers only reads by our own code:
/// a system call on such bytes fails with EFAULT. One thread at a time; `deinit` unmaps it. At most 8 in a process.
@safe package final class FileMapping {
    /// The size of the mapping, from the start of the file.
    package let byteCount: Int
    private let base: UnsafeMutableRawPointer
    private let token: CInt

    /// - Parameters:
    ///   - raw: may be closed after this returns.
    ///   - byteCount: more than 0, and at most the file's size.
    package init(_ raw: CInt, byteCount: Int) throws(Errno) {
        precondition(byteCount > 0, "nothing to map")
        var token: CInt = 0
        guard let memory = unsafe upcast_map_file(raw, UInt(byteCount), &token) else { throw Errno.current }
        unsafe base = memory
        self.byteCount = byteCount
        self.token = token
    }

    deinit { unsafe upcast_unmap_file(base, UInt(byteCount), token) }

    /// A range of the mapping; traps outside. Valid while this object lives.
    package func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "outside the mapping")
        return unsafe UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
    }

    /// False after bytes were read that the file no longer has.
    package var isWhole: Bool { upcast_mapping_has_lost(token) == 0 }

    /// Starts to read a range from the disk, without waiting, so that later readers need not wait. It does not map the
    /// pages: mapping them all in advance takes longer than a page fault for each group of neighbours.
    package func fetch(_ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "outside the mapping")
        let first = range.lowerBound & ~4095
        unsafe madvise(base + first, range.upperBound - first, MADV_WILLNEED)
    }
}
