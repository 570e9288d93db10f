package import MediaCore

/// The first line of a YUV4MPEG2 stream, as written by mjpegtools and ffmpeg.
package struct Y4MHeader: Equatable, Sendable {
    package static let magic = "YUV4MPEG2"

    package var width: Int
    package var height: Int
    /// The frame rate; nil if the stream does not contain it (`F0:0`, or no F).
    package var rate: FrameRate?
    package var pixelFormat: PixelFormat
    /// Whether the stream is `C420p10`, whose planar ten-bit words become P010.
    package var isTenBit: Bool
    /// From `XCOLORRANGE=`; nil without it.
    package var range: ColorRange?

    /// Parses the line without its end. Ignores unknown tags, interlacing and the pixel aspect ratio: frames are sent
    /// as they are stored.
    package init(line: String) throws(InputError) {
        var tags = line.split(separator: " ", omittingEmptySubsequences: true)[...]
        guard tags.popFirst().map(String.init) == Self.magic else {
            throw InputError(
                "not a YUV4MPEG2 stream: it does not begin with \"\(Self.magic) \"; raw pictures require --format and "
                    + "--size")
        }
        var size: (width: Int?, height: Int?)
        var space = "420"
        for tag in tags {
            let value = tag.dropFirst()
            switch tag.first {
            case "W": size.width = Int(value)
            case "H": size.height = Int(value)
            case "F": rate = Self.rate(value)
            case "C": space = String(value)
            case "X" where value == "COLORRANGE=FULL": range = .full
            case "X" where value == "COLORRANGE=LIMITED": range = .video
            default: break
            }
        }
        guard let width = size.width, let height = size.height else {
            throw InputError("the Y4M header names no width and height: \(line)")
        }
        try InputError.checkSize(width, height, "Y4M frames of \(width)x\(height)")
        (self.width, self.height) = (width, height)
        (pixelFormat, isTenBit) = try Self.format(space)
    }

    /// Returns nil if there is no frame rate, or if `--rate` would not accept it.
    private static func rate(_ text: Substring) -> FrameRate? {
        let parts = text.split(separator: ":")
        return parts.count == 2 ? try? SourceArguments.rate("\(parts[0])/\(parts[1])") : nil
    }

    private static func format(_ space: String) throws(InputError) -> (PixelFormat, tenBit: Bool) {
        switch space {
        // These differ in the chroma sample positions, which are not used.
        case "420", "420jpeg", "420mpeg2", "420paldv": (.i420, false)
        case "422": (.i422, false)
        case "444": (.i444, false)
        case "mono": (.gray, false)
        case "420p10": (.p010, true)
        default:
            throw InputError(
                "Y4M colour space C\(space) is not supported; 420, 420p10, 422, 444 and mono are "
                    + "(ffmpeg: -pix_fmt yuv420p)")
        }
    }
}
