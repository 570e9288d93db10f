package import MediaCore

/// What is asked of a video encoder.
package struct VideoEncoderSettings: Equatable, Sendable {
    /// An option by the name that libavcodec or the encoder gives it.
    package struct Option: Equatable, Sendable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// How chroma is laid out in the frames that the encoder is given.
    package enum ChromaLayout: String, Sendable {
        /// Two planes, as the canvas has them: the encoder reads the canvas itself.
        case i420
        /// One plane of pairs, for hardware that takes nothing else: half a canvas more memory, and a copy a frame.
        case nv12
    }

    /// An encoder by its libavcodec name: libx264, libopenh264, h264_nvenc, ...
    package var encoder = "libx264"
    package var canvas: CanvasFormat
    /// Bits a second, 10,000 to 100,000,000.
    package var bitrate: Int
    /// The decoder buffer that the encoder works for, as time at `bitrate`: how unevenly bits may be spent. 100 to
    /// 10,000.
    package var vbvMilliseconds = 1000
    /// The longest time from one keyframe to the next.
    package var keyframeInterval = MediaTime.seconds(2)
    /// For libx264, in place of a preset; nil where `preset` decides.
    package var effort: VideoEffort?
    /// For encoders that have an option `preset`; empty leaves theirs.
    package var preset = "veryfast"
    /// For encoders that have an option `tune`; empty leaves theirs.
    package var tune = "zerolatency"
    /// Encoders may stay below; old players fail above.
    package var profile = H264Profile.high
    /// Consecutive frames at most that no other refers to; each delays the stream by a frame.
    package var bFrames = 0
    package var threads = 1
    /// Whether libx264 searches for motion by halves and quarters of a sample, for which it keeps three more luma
    /// planes of every frame that it refers to.
    ///
    /// Off, it takes a third less memory at 720p (`VideoEncoder.estimatedBytes` has the figures), and natural motion
    /// takes `VideoEncoder.subpixelMotionPercent` more bits for the same picture.
    package var subpixelMotion = true
    /// Nil takes what the encoder takes, I420 first.
    package var chromaLayout: ChromaLayout?
    /// More options, set after all others; unknown ones are refused, and with libx264 those that would take the rate
    /// control out of the hands of `bitrate` and `vbvMilliseconds`.
    package var options: [Option] = []

    package init(canvas: CanvasFormat, bitrate: Int) {
        self.canvas = canvas
        self.bitrate = bitrate
    }

    /// What is special about libx264 is known: its options, its rate control and its memory.
    var isX264: Bool { encoder == "libx264" }

    /// The preset that the encoder is opened with.
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
