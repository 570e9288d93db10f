internal import IngestProtocol
package import MediaCore

/// Frames of a YUV4MPEG2 stream.
package final class Y4MVideo: VideoSource {
    package let format: VideoSampleFormat
    package let rate: FrameRate
    package var isFinite: Bool { !loops }

    private let reader: InputReader
    private let header: Y4MHeader
    private let loops: Bool
    /// One stored frame, if frames are converted before they are sent; otherwise empty.
    private var stored: [UInt8]
    package private(set) var cutShortBytes: Int?
    package var hasHeader: Bool { true }
    package var frameBytes: Int { "FRAME\n".utf8.count + format.minimumPayloadBytes }
    private static let maxLine = 1024

    /// Reads the header.
    ///
    /// - Parameters:
    ///   - matrix: from the command line; nil to derive it from the size.
    ///   - range: from the command line; nil to take it from the stream.
    ///   - rate: from the command line; nil to take it from the stream.
    ///   - loops: restarts at the end if the input can.
    package init(
        _ reader: InputReader, matrix: ColorMatrix? = nil, range: ColorRange? = nil,
        rate: FrameRate? = nil, loops: Bool = false
    ) throws(InputError) {
        guard let line = try reader.line(limit: Self.maxLine) else { throw InputError("the Y4M stream is empty") }
        let header = try Y4MHeader(line: line)
        guard let rate = rate ?? header.rate else {
            throw InputError("the Y4M stream does not say its frame rate; give one with --rate")
        }
        self.reader = reader
        self.header = header
        self.rate = rate
        self.loops = loops
        let color = ColorDescription(
            matrix: matrix, range: range ?? header.range, defaultsFor: header.pixelFormat, width: header.width,
            height: header.height)
        format = VideoSampleFormat(packed: header.pixelFormat, width: header.width, height: header.height, color: color)
        stored = header.isTenBit ? [UInt8](repeating: 0, count: format.minimumPayloadBytes) : []
    }

    package func advance(
        frame: Int64, time: MediaTime, orientation: OrientationTag?, into memory: Memory
    ) throws -> Bool {
        let target = unsafe UnsafeMutableRawBufferPointer(
            rebasing: try memory(format)[..<format.minimumPayloadBytes])
        if try unsafe !read(frame, into: target) {
            guard loops, frame > 0, reader.rewind() else { return false }
            _ = try reader.line(limit: Self.maxLine)
            guard try unsafe read(frame, into: target) else { return false }
        }
        if header.isTenBit { unsafe convertToP010(target) }
        return true
    }

    /// Reads a frame as it is stored. False at the end. An incomplete frame, from a producer that was stopped, counts
    /// as the end.
    private func read(_ frame: Int64, into target: UnsafeMutableRawBufferPointer) throws(InputError) -> Bool {
        let head = try reader.peek("FRAME\n".utf8.count).count
        guard head == "FRAME\n".utf8.count, let line = try reader.line(limit: Self.maxLine) else {
            if head > 0 { cutShortBytes = head }
            return false
        }
        guard line == "FRAME" || line.hasPrefix("FRAME ") else {
            throw InputError(
                "frame \(frame) of the Y4M stream does not begin with FRAME; the frame before was cut short")
        }
        let got =
            header.isTenBit ? try reader.fill(&stored, count: target.count) : try unsafe reader.fill(target)
        if got < target.count { cutShortBytes = got }
        return got == target.count
    }

    /// Converts three planes with ten bits in the low end of 16 to luma and interleaved chroma with the bits in the
    /// high end.
    private func convertToP010(_ pixels: UnsafeMutableRawBufferPointer) {
        let chromaSamples = (header.width + 1) / 2 * ((header.height + 1) / 2)
        let luma = header.width * header.height
        func move(_ from: Int, _ to: Int) {
            let word = (UInt16(stored[2 * from]) | UInt16(stored[2 * from + 1]) << 8) << 6
            unsafe pixels[2 * to] = UInt8(truncatingIfNeeded: word)
            unsafe pixels[2 * to + 1] = UInt8(truncatingIfNeeded: word >> 8)
        }
        for index in 0..<luma { move(index, index) }
        for index in 0..<chromaSamples {
            move(luma + index, luma + 2 * index)
            move(luma + chromaSamples + index, luma + 2 * index + 1)
        }
    }
}
