package import MediaCore

/// Pictures one after the other; used by one thread.
package protocol VideoSource: AnyObject {
    /// Where a frame of a format goes; at least its `minimumPayloadBytes`. Asked for once for
    /// each frame, unless the frame is `borrowed`.
    typealias Memory = (VideoSampleFormat) throws -> UnsafeMutableRawBufferPointer

    var rate: FrameRate { get }
    /// True for what ends by itself.
    var isFinite: Bool { get }
    /// Bytes at the end that were no whole frame, and were left out: the producer was stopped in the middle of it, or
    /// the frames are larger than they were said to be.
    var cutShortBytes: Int { get }
    /// Makes the next frame; false when there is none, though memory may have been asked for.
    ///
    /// - Parameters:
    ///   - time: since the source's first frame.
    ///   - orientation: how this frame is tagged; a source that draws its frames draws them accordingly.
    ///   - memory: where it is written.
    func advance(frame: Int64, time: MediaTime, orientation: OrientationTag?, into memory: Memory) throws -> Bool
    /// The frame that `advance` made, where it lies in the source's own memory: then no memory was asked for. Until the
    /// next `advance`.
    var borrowed: BorrowedPicture? { get }
}

extension VideoSource {
    package var cutShortBytes: Int { 0 }
    package var borrowed: BorrowedPicture? { nil }
}
