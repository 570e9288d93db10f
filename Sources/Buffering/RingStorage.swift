internal import Glibc

/// Anonymous memory for a ring in its own mapping, so that parts of it can be freed while the rest is in use.
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

    /// The bytes of a place that goes round from the end to the beginning: one piece or two, in order.
    ///
    /// - Parameter offset: counted in bytes ever written; modulo `byteCount` it is an index.
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

    /// Gives the whole pages of a place back to the kernel (madvise(2), MADV_DONTNEED); what stood there is zero then.
    func release(at offset: Int, count: Int) {
        unsafe forEachPiece(at: offset, count: count) { piece in
            let start = UInt(bitPattern: piece.baseAddress!)
            let first = (start + UInt(Self.pageBytes) - 1) & ~UInt(Self.pageBytes - 1)
            let end = (start + UInt(piece.count)) & ~UInt(Self.pageBytes - 1)
            guard first < end, let page = unsafe UnsafeMutableRawPointer(bitPattern: first) else { return }
            unsafe madvise(page, Int(end - first), CInt(MADV_DONTNEED))
        }
    }

    /// Moves what stands at `offset` to the same offset of another ring, giving pages back as it goes: both together
    /// never hold much more than the larger of them would.
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
            // From the start of the range, so that pages shared by two parts are freed as well.
            done += part
            release(at: offset, count: done)
        }
    }
}
