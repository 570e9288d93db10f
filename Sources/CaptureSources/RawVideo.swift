package import MediaCore

/// Frames without any header, one behind the other, planes and rows without padding.
package final class RawVideo: VideoSource {
    package let format: VideoSampleFormat
    package private(set) var pixels: [UInt8]
    package let rate: FrameRate
    package var isFinite: Bool { !loops }

    private let reader: InputReader
    private let loops: Bool

    /// - Parameter loops: begins again at the end, where the input can.
    package init(
        _ reader: InputReader, format: VideoSampleFormat, rate: FrameRate, loops: Bool = false
    ) {
        self.reader = reader
        self.format = format
        self.rate = rate
        self.loops = loops
        pixels = [UInt8](repeating: 0, count: format.minimumPayloadBytes)
    }

    package func advance(frame: Int64, time: MediaTime, orientation: OrientationTag?) throws(InputError) -> Bool {
        let count = pixels.count
        if try reader.fill(&pixels, count: count) == count { return true }
        guard loops, frame > 0, reader.rewind() else { return false }
        return try reader.fill(&pixels, count: count) == count
    }
}
