internal import Synchronization

/// Borrowed pointers to the three planes of an I420 picture. The provider defines their lifetime.
///
/// Chroma planes have `(width + 1) / 2` by `(height + 1) / 2` samples.
@safe package struct PicturePlanes {
    package let y: UnsafeMutablePointer<UInt8>
    package let u: UnsafeMutablePointer<UInt8>
    package let v: UnsafeMutablePointer<UInt8>
    package let yStride: Int
    package let uStride: Int
    package let vStride: Int
    package let width: Int
    package let height: Int

    package init(
        y: UnsafeMutablePointer<UInt8>, u: UnsafeMutablePointer<UInt8>, v: UnsafeMutablePointer<UInt8>,
        yStride: Int, uStride: Int, vStride: Int, width: Int, height: Int
    ) {
        unsafe self.y = y
        unsafe self.u = u
        unsafe self.v = v
        self.yStride = yStride
        self.uStride = uStride
        self.vStride = vStride
        self.width = width
        self.height = height
    }
}

/// An owned I420 picture of the canvas's size, which is filled by ingest, then shown and encoded.
///
/// One thread writes to a picture at a time; `FrameSlot` hands it over. Storage and rows are aligned to 64 bytes.
/// `init` reserves the memory, which becomes resident at the first write.
@safe package final class Picture: @unchecked Sendable /* one owner hands it to the next, no two use it at once */ {
    private let storage: UnsafeMutableRawPointer
    package let width: Int
    package let height: Int
    /// A number that no other picture of this process ever has, although memory is reused. It also identifies the
    /// contents: see `renewSerial`.
    package private(set) var serial = Picture.nextSerial

    private static let serials = Atomic<UInt64>(0)
    private static var nextSerial: UInt64 { serials.wrappingAdd(1, ordering: .relaxed).newValue }

    package init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        unsafe storage = .allocate(byteCount: Self.byteCount(width: width, height: height), alignment: 64)
    }

    deinit { unsafe storage.deallocate() }

    /// Called by the owner after it has painted over the whole picture. Code that remembers what is drawn on the
    /// picture must draw it again.
    package func renewSerial() { serial = Self.nextSerial }

    /// Copies the samples of another picture of the same size.
    package func copySamples(of other: Picture) {
        precondition((width, height) == (other.width, other.height), "a picture of another size")
        unsafe storage.copyMemory(from: other.storage, byteCount: Self.byteCount(width: width, height: height))
        renewSerial()
    }

    /// Bytes of storage of a picture of this size.
    package static func byteCount(width: Int, height: Int) -> Int {
        let (yStride, cStride) = strides(width: width)
        return yStride * height + 2 * cStride * ((height + 1) / 2)
    }

    private static func strides(width: Int) -> (luma: Int, chroma: Int) {
        (aligned(width), aligned((width + 1) / 2))
    }
    private static func aligned(_ value: Int) -> Int { (value + 63) & ~63 }

    /// The planes; valid during the lifetime of the picture.
    package var planes: PicturePlanes {
        let (yStride, cStride) = Self.strides(width: width)
        let chromaRows = (height + 1) / 2
        let y = unsafe storage.assumingMemoryBound(to: UInt8.self)
        let u = unsafe y + yStride * height
        let v = unsafe u + cStride * chromaRows
        return unsafe PicturePlanes(
            y: y, u: u, v: v, yStride: yStride, uStride: cStride, vStride: cStride, width: width, height: height)
    }
}
