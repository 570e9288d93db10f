package import MediaCore

/// A picture in its source's memory, which is compared or sent without a copy.
@safe package struct BorrowedPicture {
    package let format: VideoSampleFormat
    /// At least the format's `minimumPayloadBytes`. Valid until the next `advance` of the source. They may change while
    /// they are read.
    package let bytes: UnsafeRawBufferPointer
    private let check: () throws(InputError) -> Void

    init(
        format: VideoSampleFormat, bytes: UnsafeRawBufferPointer, check: @escaping () throws(InputError) -> Void
    ) {
        self.format = format
        unsafe self.bytes = unsafe bytes
        self.check = check
    }

    /// Call it after the bytes were read. Throws if some of them were missing.
    package func checkRead() throws(InputError) { try check() }
}
