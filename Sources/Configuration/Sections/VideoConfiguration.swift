package import MediaCore

/// The canvas and its encoder.
package struct VideoConfiguration: Equatable, Sendable {
    /// Pixels; even, 16 to 4096.
    package var width = 1280
    /// Pixels; even, 16 to 4096.
    package var height = 720
    package var frameRate = FrameRate(30)
    package var fit = FitMode.fit
    /// The colour of the bars.
    package var background = RGBColor(red: 0, green: 0, blue: 0)
    package var scaler = VideoScaler.auto
    /// The encoder's name in libavcodec.
    package var encoder = "libx264"
    /// For libx264, if `preset` is empty.
    package var effort = VideoEffort.normal
    /// Whether the effort is lowered when the processor is overloaded.
    package var adaptiveEffort = true
    /// Empty selects `effort`, or the default of another encoder.
    package var preset = ""
    /// Empty for none.
    package var tune = "zerolatency"
    package var profile = H264Profile.high
    package var threads = 2
    package var bFrames = 0
    /// Bits a second.
    package var bitrate = 2_500_000
    /// Whether the bitrate adapts to the slowest link.
    package var adaptive = true
    /// The minimum of the adaptive bitrate, in bits a second. Below it, the frame rate is reduced.
    package var minBitrate = 300_000
    /// The rate control buffer, as time at `bitrate`.
    package var vbv = MediaTime.milliseconds(1000)
    package var keyframeInterval = MediaTime.milliseconds(2000)
    package var colorMatrix = ColorMatrix.bt709
    package var colorRange = ColorRange.video
    /// The interval at which an unchanged screen is encoded again.
    package var idleRepeat = MediaTime.milliseconds(250)
    /// Whether a picture equal to the previous one is treated as an unchanged screen.
    package var skipsUnchanged = true
    /// Private options of the encoder, by name.
    package var encoderOptions: [String: String] = [:]

    /// The minimum of `bitrate`, in bits a second.
    package static let leastBitrate = 100_000

    package init() {}

    /// The effort that the encoder is opened with; nil with a preset or with another encoder than libx264.
    package var encoderEffort: VideoEffort? { encoder == "libx264" && preset.isEmpty ? effort : nil }

    /// The picture that is encoded.
    package var canvas: CanvasFormat {
        CanvasFormat(
            width: width, height: height, frameRate: frameRate,
            color: ColorDescription(matrix: colorMatrix, range: colorRange))
    }
}

extension VideoConfiguration {
    /// Whether libavcodec changes the encoder's bitrate while it runs.
    package var changesBitrate: Bool { ["libx264", "h264_nvenc"].contains(encoder) }
}

/// The code that scales and rotates pictures.
package enum VideoScaler: String, CaseIterable, Sendable {
    /// `native` if the processor has AVX2.
    case auto
    /// The project's own kernels: bicubic.
    case native
    /// Areas, and linear enlarging.
    case libyuv
}

/// A colour with 8 bits per channel, written as `#rrggbb` (sRGB, full range).
package struct RGBColor: Equatable, Sendable, CustomStringConvertible {
    package var red: UInt8
    package var green: UInt8
    package var blue: UInt8

    package init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Reads `#rrggbb`; nil for anything else.
    package init?(_ text: String) {
        guard text.utf8.count == 7, text.utf8.first == UInt8(ascii: "#"), !text.contains("+"), !text.contains("-"),
            let value = UInt32(text.dropFirst(), radix: 16)
        else { return nil }
        self.init(red: UInt8(value >> 16), green: UInt8(value >> 8 & 0xFF), blue: UInt8(value & 0xFF))
    }

    package var description: String {
        "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
