internal import CLinux
internal import Glibc

/// The beginning of a regular file, mapped for reading: its bytes as they stand in the page cache, without a copy.
///
/// The file may change, and shrink, at any time. Bytes of pages that it no longer has, or that its disk does not give,
/// are read as zeros, and `isWhole` says so from then on; the process does not end by SIGBUS. That holds for reads of
/// this process's own code: a system call that is given such bytes fails with EFAULT. One thread at a time; unmapped
/// when it goes away. A process has at most 8.
@safe package final class FileMapping {
    /// Bytes from the file's first.
    package let byteCount: Int
    private let base: UnsafeMutableRawPointer
    private let token: CInt

    /// - Parameters:
    ///   - raw: open for reading until this returns; the mapping does without it.
    ///   - byteCount: more than 0, and no more than the file has.
    package init(_ raw: CInt, byteCount: Int) throws(Errno) {
        precondition(byteCount > 0, "nothing to map")
        var token: CInt = 0
        guard let memory = unsafe upcast_map_file(raw, UInt(byteCount), &token) else { throw Errno.current }
        unsafe base = memory
        self.byteCount = byteCount
        self.token = token
    }

    deinit { unsafe upcast_unmap_file(base, UInt(byteCount), token) }

    /// Bytes of it; the range must lie inside. Valid while this object lives.
    package func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "outside the mapping")
        return unsafe UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
    }

    /// False once bytes were read that the file no longer has.
    package var isWhole: Bool { upcast_mapping_has_lost(token) == 0 }

    /// Has bytes read in from the disk, without waiting for it: then who reads them later need not wait either. Pages
    /// are mapped as they are read, and neighbours with each: to map them all before takes more time.
    package func fetch(_ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "outside the mapping")
        let first = range.lowerBound & ~4095
        unsafe madvise(base + first, range.upperBound - first, MADV_WILLNEED)
    }
}
