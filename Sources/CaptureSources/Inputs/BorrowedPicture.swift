package import MediaCore

/// A picture in its source's memory. It is compared or sent without a copy.
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

    /// Checks that no bytes were missing; call it after you have read them. Throws if some were.
    package func checkRead() throws(InputError) { try check() }
}
