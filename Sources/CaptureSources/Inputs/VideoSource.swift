package import MediaCore

/// A source of pictures; used by one thread.
package protocol VideoSource: AnyObject {
    /// Returns the memory for a frame of a format, at least its `minimumPayloadBytes`. Called once for each frame,
    /// unless the frame is `borrowed`.
    typealias Memory = (VideoSampleFormat) throws -> UnsafeMutableRawBufferPointer

    var rate: FrameRate { get }
    /// Whether the source has an end.
    var isFinite: Bool { get }
    /// The size of an incomplete frame at the end, which was left out: its producer was stopped within the frame, or
    /// the frame size is wrong. Nil if there was none.
    var cutShortBytes: Int? { get }
    /// Whether the format is read from the input, and not given by the user.
    var hasHeader: Bool { get }
    /// The size of a frame in the input; 0 if the source has no input.
    var frameBytes: Int { get }
    /// Reads the next frame. Returns false at the end, even if it has called `memory`.
    ///
    /// - Parameters:
    ///   - time: relative to the source's first frame.
    ///   - orientation: the frame's tag; a source that draws its frames applies it.
    ///   - memory: returns the memory to write to.
    func advance(frame: Int64, time: MediaTime, orientation: OrientationTag?, into memory: Memory) throws -> Bool
    /// The frame that `advance` has read, if it is in the source's own memory. `memory` was then not called. Valid
    /// until the next `advance`.
    var borrowed: BorrowedPicture? { get }
}

extension VideoSource {
    package var cutShortBytes: Int? { nil }
    package var hasHeader: Bool { false }
    package var frameBytes: Int { 0 }
    package var borrowed: BorrowedPicture? { nil }
}
