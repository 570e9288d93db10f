internal import IngestProtocol
import MediaCore

/// The header of a stream in a container.
protocol ContainerStream: Equatable {
    /// How messages name the container, such as `NUT`.
    static var container: String { get }
    /// How messages name the stream.
    var number: Int { get }
    var kind: ContainerStreamKind { get }
    /// How messages name the codec.
    var codec: String { get }
    /// The colours, as far as the container says.
    var matrix: ColorMatrix? { get }
    var range: ColorRange? { get }
    /// The number of a colour matrix that cannot be sent (ITU-T H.273, MatrixCoefficients); nil for none.
    var otherMatrix: UInt64? { get }
    /// How messages name the transfer function of HDR video; nil for other video.
    var hdr: String? { get }

    /// The pixel format of raw video.
    ///
    /// - Throws: for a codec or pixel format that cannot be sent. The error says what to write instead.
    func pixelFormat(range: ColorRange?) throws(InputError) -> PixelFormat
    /// The format of the samples of interleaved PCM.
    ///
    /// - Throws: for other audio. The error says what to write instead.
    func pcm() throws(InputError) -> (encoding: PCMEncoding, isBigEndian: Bool)
}

extension ContainerStream {
    var otherMatrix: UInt64? { nil }
    var hdr: String? { nil }

    /// The format of raw pictures; nil for other streams. ffmpeg's grey formats have full range.
    ///
    /// - Parameters: the colours, which count more than those of the stream.
    func videoFormat(matrix: ColorMatrix?, range: ColorRange?) throws(InputError) -> VideoSampleFormat? {
        guard case .video(let width, let height) = kind else { return nil }
        let range = range ?? self.range
        let pixelFormat = try pixelFormat(range: range)
        guard (1...65_535).contains(width), (1...65_535).contains(height) else {
            throw InputError("the \(Self.container) stream has video of \(width)x\(height)")
        }
        if let otherMatrix, matrix == nil, !pixelFormat.isRGB, pixelFormat != .gray {
            let filter = hdr == nil ? "zscale=m=bt709" : InputError.hdrFilter
            throw InputError(
                "video with colour matrix \(otherMatrix) of ITU-T H.273 cannot be sent; add \(filter) to ffmpeg's "
                    + "filters, or put video/x-raw,colorimetry=bt709 before GStreamer's matroskamux; if the stream "
                    + "names its matrix wrongly, give the right one with --color")
        }
        return VideoSampleFormat(
            packed: pixelFormat, width: width, height: height,
            color: ColorDescription(
                matrix: matrix ?? self.matrix, range: range ?? (pixelFormat == .gray ? .full : nil),
                defaultsFor: pixelFormat, width: width, height: height))
    }

    /// The format of interleaved PCM; nil for other streams.
    var audioFormat: AudioFormat? {
        get throws(InputError) {
            guard case .audio(let sampleRate, let channels) = kind else { return nil }
            let (encoding, isBigEndian) = try pcm()
            guard (8_000...192_000).contains(sampleRate), (1...8).contains(channels) else {
                throw InputError(
                    "audio of \(sampleRate) Hz with \(channels) channels cannot be sent; write 48000 Hz stereo, with "
                        + "ffmpeg by -ar 48000 -ac 2")
            }
            return AudioFormat(
                sampleRate: sampleRate, channels: channels, encoding: encoding, isBigEndian: isBigEndian)
        }
    }
}

extension PixelFormat {
    /// The pixel format with a FourCC that ffmpeg and GStreamer write; nil for another one.
    init?(fourCC: String, range: ColorRange?) {
        switch fourCC {
        case "I420": self = .i420
        case "NV12": self = range == .full ? .nv12FullRange : .nv12VideoRange
        case "NV21": self = .nv21
        case "YV12": self = .yv12
        case "Y42B": self = .i422
        case "444P": self = .i444
        case "YUY2": self = .yuy2
        case "UYVY": self = .uyvy
        case "BGRA", "BGR\0": self = .bgra
        case "RGBA", "RGB\0": self = .rgba
        case "ARGB", "\0RGB": self = .argb
        case "ABGR", "\0BGR": self = .abgr
        case "Y800": self = .gray
        default: return nil
        }
    }
}

extension VideoSampleFormat {
    /// The layout of a picture with `byteCount` bytes; nil if there is none.
    ///
    /// It is packed, or as in GStreamer: rows padded to four bytes, and 4:2:0 with an even number of luma rows
    /// (`gst_video_info_set_format`).
    func layout(of byteCount: Int) -> VideoSampleFormat? {
        if byteCount == minimumPayloadBytes { return self }
        var padded = self
        var offset = 0
        for index in 0..<pixelFormat.planeCount {
            let shape = pixelFormat.plane(index)
            let stride = (shape.rowBytes(pictureWidth: width) + 3) / 4 * 4
            padded.setPlane(index, PlaneLocation(offset: offset, stride: stride))
            let rows = shape.rows(pictureHeight: height)
            let isLuma420 = index == 0 && pixelFormat.planeCount > 1 && pixelFormat.plane(1).rows(pictureHeight: 2) == 1
            offset += stride * (isLuma420 ? (rows + 1) / 2 * 2 : rows)
        }
        return offset == byteCount ? padded : nil
    }
}
