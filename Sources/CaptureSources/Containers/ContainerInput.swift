package import MediaCore

/// The samples of a NUT or Matroska stream, in the order of the stream: its first video, its first audio as app audio,
/// and its second audio as microphone audio. One thread at a time.
package final class ContainerInput: TimedInput, @unchecked Sendable /* its opener hands it to its reading thread */ {
    package let video: VideoSampleFormat?
    package let appAudio: AudioFormat?
    package let microphone: AudioFormat?
    package private(set) var samples: [UInt8] = []
    package private(set) var cutShortBytes: Int?
    /// The streams that are not sent, for a message; empty if all are.
    package let unsent: [String]

    /// Whether the stream says which colours its video has.
    package let knowsColors: Bool
    /// The transfer function of HDR video, such as `PQ`; nil for other video.
    package let hdr: String?

    private let reader: any ContainerReader
    private let container: String
    private let loops: Bool
    /// The track of each stream; nil for one that is not sent.
    private let tracks: [SampleTrack?]
    /// The unsent rest of the last frame of audio.
    private var audio: (track: SampleTrack, format: AudioFormat, time: MediaTime, sent: Int64, bytesLeft: Int)?
    private var hasRestarted = false

    /// Audio packets of any size are sent in blocks of at most 50 ms and 0.3 MiB.
    private static let blocksPerSecond = 20

    /// Reads the headers. Waits for a pipe.
    ///
    /// - Parameters:
    ///   - matrix: the colour matrix of the video; nil for that of the stream.
    ///   - range: the colour range of the video; nil for that of the stream.
    ///   - loops: restarts at the end if the input can.
    /// - Throws: for streams that cannot be sent as they are. The error says what to add to the command that writes
    ///   them.
    package convenience init(
        _ input: InputReader, matrix: ColorMatrix? = nil, range: ColorRange? = nil, loops: Bool = false
    ) throws(InputError) {
        if try MatroskaReader.begins(input) {
            let reader = try MatroskaReader(input)
            try self.init(reader, matrix, range, loops)
        } else {
            let reader = try NUTReader(input)
            try self.init(reader, matrix, range, loops)
        }
    }

    private init<Reader: ContainerReader>(
        _ reader: Reader, _ matrix: ColorMatrix?, _ range: ColorRange?, _ loops: Bool
    ) throws(InputError) {
        (self.reader, self.loops, container) = (reader, loops, Reader.Stream.container)
        var (knowsColors, hdr): (Bool, String?) = (false, nil)
        var tracks: [SampleTrack?] = []
        var unsent: [String] = []
        var video: VideoSampleFormat?
        var audio: [AudioFormat] = []
        for stream in reader.streams {
            var track: SampleTrack?
            switch stream.kind {
            case .video where video == nil:
                video = try stream.videoFormat(matrix: matrix, range: range)
                knowsColors = stream.range != nil && (stream.matrix != nil || video?.pixelFormat == .gray)
                hdr = stream.hdr
                track = .video
            case .audio where audio.count < 2:
                if let format = try stream.audioFormat { audio.append(format) }
                track = audio.count == 1 ? .appAudio : .microphone
            case .video, .audio, .other: unsent.append("stream \(stream.number) (\(stream.codec))")
            }
            tracks.append(track)
        }
        guard video != nil || !audio.isEmpty else {
            throw InputError("the \(container) stream has neither video nor audio")
        }
        (self.knowsColors, self.hdr) = (knowsColors, hdr)
        self.tracks = tracks
        self.unsent = unsent
        self.video = video
        appAudio = audio.first
        microphone = audio.count > 1 ? audio[1] : nil
    }

    package func advance(into memory: VideoSource.Memory) throws -> TimedSample? {
        if let block = try nextBlock() { return block }
        while let frame = try nextFrame() {
            switch tracks[frame.stream] {
            case .video:
                guard let video, try unsafe picture(frame, video, memory) else { return nil }
                return sample(.video, frame.time, .zero)
            case .appAudio: if let block = try firstBlock(.appAudio, appAudio, frame) { return block }
            case .microphone: if let block = try firstBlock(.microphone, microphone, frame) { return block }
            case nil: break
            }
        }
        return nil
    }

    private func nextFrame() throws(InputError) -> ContainerFrame? {
        do {
            if let frame = try reader.next() { return frame }
            if reader.isCutShort, cutShortBytes == nil { cutShortBytes = 0 }
            guard loops, try reader.rewind() else { return nil }
            hasRestarted = true
            return try reader.next()
        } catch {
            throw InputError("\(error); the rest of the stream is not sent")
        }
    }

    private func sample(
        _ track: SampleTrack, _ time: MediaTime, _ duration: MediaTime, lead: MediaTime = .zero
    ) -> TimedSample {
        defer { hasRestarted = false }
        return TimedSample(track: track, time: time, duration: duration, isRestart: hasRestarted, lead: lead)
    }

    /// False if the input ends within the picture.
    private func picture(
        _ frame: ContainerFrame, _ format: VideoSampleFormat, _ memory: VideoSource.Memory
    ) throws -> Bool {
        guard let layout = format.layout(of: frame.byteCount) else {
            throw InputError(
                "the \(container) stream has a picture of \(frame.byteCount) bytes; "
                    + "\(format.width)x\(format.height) in \(format.pixelFormat.fourCC) has "
                    + "\(format.minimumPayloadBytes)")
        }
        let size = layout.minimumPayloadBytes
        let target = unsafe UnsafeMutableRawBufferPointer(rebasing: try memory(layout)[..<size])
        let got = try unsafe reader.read(into: target)
        if got < size { cutShortBytes = got }
        return got == size
    }

    private func firstBlock(
        _ track: SampleTrack, _ format: AudioFormat?, _ frame: ContainerFrame
    ) throws(InputError) -> TimedSample? {
        guard let format else { return nil }
        guard frame.byteCount % format.bytesPerFrame == 0 else {
            throw InputError(
                "the \(container) stream has \(frame.byteCount) bytes of PCM, which is no whole number of samples")
        }
        audio = (track, format, frame.time, 0, frame.byteCount)
        return try nextBlock()
    }

    private func nextBlock() throws(InputError) -> TimedSample? {
        guard let (track, format, start, sent, bytesLeft) = audio, bytesLeft > 0 else { return nil }
        let size = min(bytesLeft, format.sampleRate / Self.blocksPerSecond * format.bytesPerFrame)
        if samples.count < size { samples.append(contentsOf: repeatElement(0, count: size - samples.count)) }
        if samples.count > size { samples.removeLast(samples.count - size) }
        let got = try unsafe samples.withUnsafeMutableBufferPointer { buffer throws(InputError) in
            try unsafe reader.read(into: UnsafeMutableRawBufferPointer(buffer))
        }
        // An incomplete frame at the end is dropped.
        if got < size { cutShortBytes = got % format.bytesPerFrame }
        let frames = got / format.bytesPerFrame
        samples.removeLast(size - frames * format.bytesPerFrame)
        audio?.bytesLeft = got < size ? 0 : bytesLeft - size
        audio?.sent = sent + Int64(frames)
        guard frames > 0 else { return nil }
        let lead = MediaTime(sample: sent, rate: format.sampleRate)
        return sample(track, start + lead, MediaTime(sample: Int64(frames), rate: format.sampleRate), lead: lead)
    }
}
