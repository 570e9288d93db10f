package import MediaCore

/// Frames without headers, with packed planes and rows.
package final class RawVideo: VideoSource {
    package let rate: FrameRate
    package var isFinite: Bool { !loops }

    private let format: VideoSampleFormat
    private let reader: InputReader
    private let loops: Bool
    package private(set) var cutShortBytes: Int?
    package var frameBytes: Int { format.minimumPayloadBytes }

    /// - Parameter loops: restarts at the end if the input can.
    package init(
        _ reader: InputReader, format: VideoSampleFormat, rate: FrameRate, loops: Bool = false
    ) {
        self.reader = reader
        self.format = format
        self.rate = rate
        self.loops = loops
    }

    package func advance(
        frame: Int64, time: MediaTime, orientation: OrientationTag?, into memory: Memory
    ) throws -> Bool {
        let target = unsafe UnsafeMutableRawBufferPointer(
            rebasing: try memory(format)[..<format.minimumPayloadBytes])
        let got = try unsafe reader.fill(target)
        if got == target.count { return true }
        cutShortBytes = got > 0 ? got : nil
        guard loops, frame > 0, reader.rewind() else { return false }
        return try unsafe reader.fill(target) == target.count
    }
}
