internal import LinuxSystem
package import MediaCore

/// Frames without headers in a regular file, read from the page cache without a copy.
///
/// The file may grow while it is sent. If it shrinks, the remaining frames are sent, and then an input error is thrown.
package final class MappedVideo: VideoSource {
    package let rate: FrameRate
    package var isFinite: Bool { !loops }
    package private(set) var cutShortBytes: Int?
    package private(set) var borrowed: BorrowedPicture?

    private let file: FileInput
    private let format: VideoSampleFormat
    private let loops: Bool
    private var mapping: FileMapping?
    /// The offset of the next frame.
    private var position = 0
    /// The largest size of the file so far.
    private var largestSize = 0

    /// - Parameters:
    ///   - file: a regular file (`FileInput.isLive` is false).
    ///   - loops: restarts at the end.
    package init(_ file: FileInput, format: VideoSampleFormat, rate: FrameRate, loops: Bool = false) {
        self.file = file
        self.format = format
        self.rate = rate
        self.loops = loops
    }

    package func advance(
        frame: Int64, time: MediaTime, orientation: OrientationTag?, into memory: Memory
    ) throws -> Bool {
        let frameBytes = format.minimumPayloadBytes
        borrowed = nil
        let size = try file.size
        largestSize = max(largestSize, size)
        let name = file.name
        let isShorter = InputError("\(name) has become shorter while it was sent, or cannot be read any more")
        if position + frameBytes > size {
            guard size == largestSize else { throw isShorter }
            cutShortBytes = size > position ? size - position : nil
            guard loops, frame > 0, frameBytes <= size else { return false }
            position = 0
        }
        let range = position..<position + frameBytes
        let mapping = try map(upTo: range.upperBound, of: size)
        position = range.upperBound
        // Read ahead now, before the frame is due.
        mapping.fetch(range)
        borrowed = unsafe BorrowedPicture(format: format, bytes: mapping.bytes(range)) {
            () throws(InputError) in
            guard mapping.isWhole else { throw isShorter }
        }
        return true
    }

    private func map(upTo end: Int, of size: Int) throws(InputError) -> FileMapping {
        if let mapping, mapping.byteCount >= end { return mapping }
        mapping = nil
        let made = try file.map(byteCount: size)
        mapping = made
        return made
    }
}
