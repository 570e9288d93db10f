package import MediaCore

/// A source of PCM in blocks of some milliseconds; used by one thread.
package protocol AudioInput: AnyObject {
    var format: AudioFormat { get }
    /// The block that `advance` has read. The next call reuses the storage.
    var samples: [UInt8] { get }
    /// Whether the input has an end.
    var isFinite: Bool { get }
    /// How many bytes of an incomplete frame at the end were left out; 0 if a WAV stream ends between two frames, but
    /// before the end that its header names. Nil if nothing is missing.
    var cutShortBytes: Int? { get }
    /// Reads the next block of at most `frames` frames. Returns the number of frames; 0 at the end.
    func advance(frames: Int) throws(InputError) -> Int
}

extension AudioInput {
    package var cutShortBytes: Int? { nil }
}

/// PCM from a file or pipe, with or without a WAV header.
package final class PCMInput: AudioInput {
    package let format: AudioFormat
    package private(set) var samples: [UInt8] = []
    package var isFinite: Bool { !loops }
    package private(set) var cutShortBytes: Int?

    private let reader: InputReader
    private let loops: Bool
    private let hasHeader: Bool
    private let dataBytes: Int?
    /// Whether a stream with fewer than `dataBytes` bytes is cut off.
    private let isSizeCertain: Bool
    private var left: Int?

    /// Detects a WAV stream; otherwise `rawFormat` describes the bytes.
    package init(_ reader: InputReader, rawFormat: AudioFormat?, loops: Bool = false) throws(InputError) {
        self.reader = reader
        self.loops = loops
        let head = try reader.peek(12)
        if head.isEmpty { throw InputError("the audio input is empty") }
        hasHeader = WAVHeader.isWAV(head)
        if hasHeader {
            let header = try WAVHeader(reader)
            format = header.format
            (dataBytes, isSizeCertain) = (header.dataBytes, header.isSizeCertain)
        } else {
            guard let rawFormat else {
                throw InputError(
                    "the audio input is no WAV stream; give the format of raw PCM with --app-audio-format or "
                        + "--mic-format, such as s16le,48000,2, or convert others: ffmpeg -i FILE out.wav")
            }
            guard rawFormat.isInterleaved || rawFormat.channels == 1 else {
                throw InputError("PCM without a header is read as interleaved; leave the p out of its format")
            }
            format = rawFormat
            (dataBytes, isSizeCertain) = (nil, false)
        }
        left = dataBytes
    }

    package func advance(frames: Int) throws(InputError) -> Int {
        var count = try read(frames)
        if count == 0, loops, reader.rewind() {
            if hasHeader { _ = try WAVHeader(reader) }
            left = dataBytes
            count = try read(frames)
        }
        return count
    }

    private func read(_ frames: Int) throws(InputError) -> Int {
        let wanted = min(frames * format.bytesPerFrame, left ?? .max)
        if samples.count != wanted { samples = [UInt8](repeating: 0, count: wanted) }
        let got = try reader.fill(&samples, count: wanted)
        // An incomplete frame at the end is dropped.
        let whole = got / format.bytesPerFrame
        samples.removeLast(samples.count - whole * format.bytesPerFrame)
        left? -= got
        if got < wanted, cutShortBytes == nil {
            let rest = got % format.bytesPerFrame
            if rest > 0 || isSizeCertain { cutShortBytes = rest }
        }
        return whole
    }
}
