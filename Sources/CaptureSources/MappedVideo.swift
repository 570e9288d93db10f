internal import LinuxSystem
package import MediaCore

/// Frames without any header in a regular file, one behind the other: read where the kernel keeps them, and not copied.
///
/// The file may grow while it is sent. Where it has lost its end, the frames that are left are sent, and an error of
/// the input follows them.
package final class MappedVideo: VideoSource {
    package let rate: FrameRate
    package var isFinite: Bool { !loops }
    package private(set) var cutShortBytes = 0
    package private(set) var borrowed: BorrowedPicture?

    private let file: FileInput
    private let format: VideoSampleFormat
    private let loops: Bool
    private var mapping: FileMapping?
    /// Where the next frame begins.
    private var position = 0
    /// The most bytes that the file has had.
    private var largestSize = 0

    /// - Parameters:
    ///   - file: a regular one (`FileInput.isLive` is false).
    ///   - loops: begins again at the end.
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
            cutShortBytes = size - position
            guard loops, frame > 0, frameBytes <= size else { return false }
            position = 0
        }
        let range = position..<position + frameBytes
        let mapping = try map(upTo: range.upperBound, of: size)
        position = range.upperBound
        // Here, where nobody waits for the frame yet.
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
