package import MediaCore

/// A picture that lies in memory of its source's: it need not be copied to be compared or sent.
@safe package struct BorrowedPicture {
    package let format: VideoSampleFormat
    /// At least the format's `minimumPayloadBytes`; until the source is asked for the next frame. They may change while
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

    /// To be called when the bytes have been read: throws where some of them were not there.
    package func checkRead() throws(InputError) { try check() }
}
