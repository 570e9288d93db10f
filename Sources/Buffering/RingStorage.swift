internal import Glibc

/// Anonymous memory for a ring in its own mapping, so that unused parts can be freed.
///
/// Pages become resident at their first write. Not thread-safe.
@safe final class RingStorage {
    let byteCount: Int
    let base: UnsafeMutableRawPointer

    private static let pageBytes = 4096

    /// Nil if the kernel refuses the mapping.
    init?(byteCount: Int) {
        guard
            let base = unsafe mmap(
                nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            unsafe base != MAP_FAILED
        else { return nil }
        unsafe self.base = base
        self.byteCount = byteCount
    }

    deinit { unsafe munmap(base, byteCount) }

    /// Calls `body` with the one or two contiguous pieces of a range that may wrap around, in order.
    ///
    /// - Parameter offset: in bytes ever written; modulo `byteCount` it is an index.
    func forEachPiece(at offset: Int, count: Int, _ body: (UnsafeMutableRawBufferPointer) -> Void) {
        precondition(count <= byteCount, "more than the ring holds")
        let start = offset % byteCount
        let head = min(count, byteCount - start)
        if head > 0 { unsafe body(UnsafeMutableRawBufferPointer(start: base + start, count: head)) }
        if head < count { unsafe body(UnsafeMutableRawBufferPointer(start: base, count: count - head)) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        var done = 0
        unsafe forEachPiece(at: offset, count: bytes.count) { piece in
            unsafe piece.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[done..<done + piece.count]))
            done += piece.count
        }
    }

    func read(at offset: Int, count: Int, to target: UnsafeMutableRawPointer) {
        var done = 0
        unsafe forEachPiece(at: offset, count: count) { piece in
            unsafe (target + done).copyMemory(from: piece.baseAddress!, byteCount: piece.count)
            done += piece.count
        }
    }

    /// Returns the whole pages of a range to the kernel (madvise(2), MADV_DONTNEED). They read as zero afterwards.
    func release(at offset: Int, count: Int) {
        unsafe forEachPiece(at: offset, count: count) { piece in
            let start = UInt(bitPattern: piece.baseAddress!)
            let first = (start + UInt(Self.pageBytes) - 1) & ~UInt(Self.pageBytes - 1)
            let end = (start + UInt(piece.count)) & ~UInt(Self.pageBytes - 1)
            guard first < end, let page = unsafe UnsafeMutableRawPointer(bitPattern: first) else { return }
            unsafe madvise(page, Int(end - first), CInt(MADV_DONTNEED))
        }
    }

    /// Moves a range to the same offset of another ring, and frees its pages meanwhile. Both rings together hold little
    /// more than the larger of them.
    func move(at offset: Int, count: Int, to target: RingStorage) {
        let step = 64 * 1024
        var done = 0
        while done < count {
            let part = min(step, count - done)
            var place = offset + done
            unsafe forEachPiece(at: place, count: part) { piece in
                unsafe target.write(UnsafeRawBufferPointer(piece), at: place)
                place += piece.count
            }
            // From the start of the range, so that pages shared by two steps are freed as well.
            done += part
            release(at: offset, count: done)
        }
    }
}
