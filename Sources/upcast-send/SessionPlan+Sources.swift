import CaptureSources
import MediaCore

/// The sources of samples for the tracks.
extension SessionPlan {
    /// Opens the source of the pictures. Reads the header of a Y4M stream, and waits for it in a pipe.
    ///
    /// - Parameter stream: the opened file or pipe; without one, there is only a source for the pattern.
    func source(of video: Video, _ stream: InputStream?) throws(InputError) -> (any VideoSource)? {
        switch (video, stream) {
        case (.pattern(let format, let rate), _): PatternVideo(format: format, rate: rate, convention: convention)
        case (.raw(_, let format, let rate), let stream?):
            stream.file.isMappable
                ? MappedVideo(stream.file, format: format, rate: rate, loops: loops)
                : RawVideo(stream.reader, format: format, rate: rate, loops: loops)
        case (.y4m(_, let rate), let stream?):
            try Y4MVideo(stream.reader, matrix: matrix, range: range, rate: rate, loops: loops)
        case (.raw, nil), (.y4m, nil): nil
        }
    }

    /// Opens the source of a track of audio. Reads the header of a WAV stream, and waits for it in a pipe.
    ///
    /// - Parameter stream: the opened file or pipe; without one, there is only a source for a tone.
    func source(of audio: Audio, _ stream: InputStream?) throws(InputError) -> (any AudioInput)? {
        switch (audio, stream) {
        case (.tone(let format, let frequency), _): try ToneInput(format: format, frequency: frequency)
        case (.stream(_, let raw), let stream?): try PCMInput(stream.reader, rawFormat: raw, loops: loops)
        case (.stream, nil): nil
        }
    }

    /// Opens the source of all tracks of a stream. Reads its header, and waits for it in a pipe. The size of pictures
    /// is checked before there is memory for one.
    func source(of stream: InputStream) throws(InputError) -> ContainerInput {
        let input = try ContainerInput(stream.reader, matrix: matrix, range: range, loops: loops)
        if let video = input.video {
            let size = "\(video.width)x\(video.height)"
            try InputError.checkSize(video.width, video.height, "the stream has video of \(size)")
        }
        return input
    }
}
