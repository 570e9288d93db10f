package import MediaCore

/// PCM in runs of some milliseconds; used by one thread.
package protocol AudioInput: AnyObject {
    var format: AudioFormat { get }
    /// The run that `advance` made; its storage is used again for the next one.
    var samples: [UInt8] { get }
    /// True for what ends by itself.
    var isFinite: Bool { get }
    /// Makes the next run of at most `frames`; returns how many there are, 0 at the end.
    func advance(frames: Int) throws(InputError) -> Int
}

/// PCM out of a file or a pipe, with a WAV header or without.
package final class PCMInput: AudioInput {
    package let format: AudioFormat
    package private(set) var samples: [UInt8] = []
    package var isFinite: Bool { !loops }

    private let reader: InputReader
    private let loops: Bool
    private let hasHeader: Bool
    private let dataBytes: Int?
    private var left: Int?

    /// Looks whether the input is a WAV stream; where it is not, `rawFormat` says what its bytes are.
    package init(_ reader: InputReader, rawFormat: AudioFormat?, loops: Bool = false) throws(InputError) {
        self.reader = reader
        self.loops = loops
        hasHeader = WAVHeader.isWAV(try reader.peek(12))
        if hasHeader {
            let header = try WAVHeader(reader)
            format = header.format
            dataBytes = header.dataBytes
        } else {
            guard let rawFormat else {
                throw InputError("the audio input is no WAV stream; say what it is, for example s16le,48000,2")
            }
            guard rawFormat.isInterleaved || rawFormat.channels == 1 else {
                throw InputError("PCM without a header is read as interleaved; leave the p out of its format")
            }
            format = rawFormat
            dataBytes = nil
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
        // Half a frame at the end is nothing.
        let whole = got / format.bytesPerFrame
        samples.removeLast(samples.count - whole * format.bytesPerFrame)
        left? -= got
        return whole
    }
}
