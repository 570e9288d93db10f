package import MediaCore

package struct VideoEncoderSettings: Equatable, Sendable {
    /// An option by its libavcodec or encoder name.
    package struct Option: Equatable, Sendable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The chroma layout of the encoder's input.
    package enum ChromaLayout: String, Sendable {
        /// Two planes, like the canvas: the encoder reads the canvas itself.
        case i420
        /// One interleaved plane, for hardware that accepts nothing else. Costs a copy of each frame, and a picture
        /// of memory.
        case nv12
    }

    /// The libavcodec name of an encoder: libx264, libopenh264, h264_nvenc, ...
    package var encoder = "libx264"
    package var canvas: CanvasFormat
    /// Bits a second, 10,000 to 100,000,000.
    package var bitrate: Int
    /// The size of the decoder buffer as time at `bitrate`, 100 to 10,000 ms. It limits how unevenly bits are spent.
    package var vbvMilliseconds = 1000
    /// The maximum time between keyframes.
    package var keyframeInterval = MediaTime.seconds(2)
    /// For libx264, in place of `preset`; nil to use `preset`.
    package var effort: VideoEffort?
    /// For encoders with an option `preset`; empty keeps their default.
    package var preset = "veryfast"
    /// For encoders with an option `tune`; empty keeps their default.
    package var tune = "zerolatency"
    /// The highest profile. Encoders may use a lower one; old players fail at higher ones.
    package var profile = H264Profile.high
    /// The most consecutive B-frames. Each delays the stream by a frame.
    package var bFrames = 0
    package var threads = 1
    /// Whether libx264 searches for motion at half and quarter samples, for which it keeps three more luma planes of
    /// each reference frame.
    ///
    /// Without it, the encoder needs a third less memory at 720p (figures at `VideoEncoder.estimatedBytes`), and
    /// natural motion takes `VideoEncoder.subpixelMotionPercent` more bits for the same picture.
    package var subpixelMotion = true
    /// Nil selects a layout that the encoder supports, I420 first.
    package var chromaLayout: ChromaLayout?
    /// Further options, set after all others. Unknown ones are refused; with libx264 also those that would override
    /// `bitrate`, `vbvMilliseconds` or other settings.
    package var options: [Option] = []

    package init(canvas: CanvasFormat, bitrate: Int) {
        self.canvas = canvas
        self.bitrate = bitrate
    }

    /// Whether the encoder is libx264, whose options, rate control and memory are known.
    var isX264: Bool { encoder == "libx264" }

    var openedPreset: String { effort == nil ? preset : X264Effort.preset.rawValue }

    func validate() throws(EncodingError) {
        guard effort == nil || isX264 else {
            throw .invalidSetting("an effort is for libx264 and not for \(encoder)")
        }
        for (name, value) in [("width", canvas.width), ("height", canvas.height)]
        where !(16...4096).contains(value) || value % 2 != 0 {
            throw .invalidSetting("a canvas \(name) of \(value) is not an even number from 16 to 4096")
        }
        try Self.validate(bitrate: bitrate)
        guard (100...10_000).contains(vbvMilliseconds) else {
            throw .invalidSetting("a VBV of \(vbvMilliseconds) ms is not between 100 ms and 10 s")
        }
        guard keyframeInterval >= .milliseconds(100), keyframeInterval <= .seconds(60) else {
            throw .invalidSetting("a keyframe interval of \(keyframeInterval) is not between 0.1 s and 60 s")
        }
        guard (0...16).contains(bFrames) else { throw .invalidSetting("\(bFrames) B-frames are not 0 to 16") }
        guard (1...64).contains(threads) else { throw .invalidSetting("\(threads) encoder threads are not 1 to 64") }
    }

    static func validate(bitrate: Int) throws(EncodingError) {
        guard (10_000...100_000_000).contains(bitrate) else {
            throw .invalidSetting("a video bitrate of \(bitrate) bit/s is not between 10 kbit/s and 100 Mbit/s")
        }
    }
}
