internal import MediaCore

// Inputs without a single sample. A feed finds that out when it has begun; files can be checked before.

extension InputError {
    /// The error if an input ends within its first frame: its format is wrong, or its producer never began.
    static func emptyVideo(_ source: any VideoSource) -> InputError {
        guard let bytes = source.cutShortBytes, bytes > 0 else {
            return InputError("the video has no frame: its input is empty")
        }
        return InputError(
            "the video has no frame: its input ends after \(bytes) bytes, in the middle of the first"
                + (source.hasHeader ? "" : "; are --size and --format right?"))
    }

    static let emptyAudio = InputError("the audio input has no samples")
    static let emptyStream = InputError("the input ends before its first sample")
}

extension VideoSource {
    /// Reads the first frame, and throws if there is none. The source cannot be sent afterwards.
    package func checkFirstSample() throws {
        let scratch = unsafe ScratchPicture()
        let isThere = try unsafe advance(frame: 0, time: .zero, orientation: nil, into: scratch.memory)
        guard isThere else { throw InputError.emptyVideo(self) }
    }
}

extension AudioInput {
    /// Reads the first sample, and throws if there is none. The input cannot be sent afterwards.
    package func checkFirstSample() throws {
        guard try advance(frames: 1) > 0 else { throw InputError.emptyAudio }
    }
}

extension TimedInput {
    /// Reads the first sample, and throws if there is none. The input cannot be sent afterwards.
    package func checkFirstSample() throws {
        let scratch = unsafe ScratchPicture()
        guard try unsafe advance(into: scratch.memory) != nil else { throw InputError.emptyStream }
    }
}

/// Memory for a picture that is not sent.
@unsafe private final class ScratchPicture {
    private var bytes: UnsafeMutableRawBufferPointer?

    deinit { unsafe bytes?.deallocate() }

    func memory(_ format: VideoSampleFormat) -> UnsafeMutableRawBufferPointer {
        unsafe bytes?.deallocate()
        let new = UnsafeMutableRawBufferPointer.allocate(byteCount: format.minimumPayloadBytes, alignment: 16)
        unsafe bytes = new
        return unsafe new
    }
}
