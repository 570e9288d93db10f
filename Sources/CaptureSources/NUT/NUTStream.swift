internal import IngestProtocol
package import MediaCore

/// A stream header of NUT.
package struct NUTStream: Equatable {
    package enum Kind: Equatable {
        case video(width: Int, height: Int)
        case audio(sampleRate: Int, channels: Int)
        /// Subtitles and data, which are not sent.
        case other
    }

    let id: Int
    package let kind: Kind
    /// The codec, as a FourCC or another tag of ffmpeg.
    package let tag: [UInt8]
    let timeBase: Int
    /// Coded times below `1 << ptsShift` are the low bits of a time.
    let ptsShift: Int

    init(_ body: [UInt8], of header: NUTMainHeader) throws(InputError) {
        var packet = NUTPacket(body)
        id = try packet.count(upTo: header.streamCount - 1, "a stream")
        let kindNumber = try packet.number()
        tag = try packet.bytes(upTo: 16, "the size of a codec tag")
        timeBase = try packet.count(upTo: header.timeBases.count - 1, "a time base")
        ptsShift = try packet.count(upTo: 62, "the bits of a time")
        for _ in 0..<3 { _ = try packet.number() }  // max_pts_distance, decode_delay, stream_flags
        _ = try packet.bytes(upTo: 65_536, "the size of the codec's data")
        switch kindNumber {
        case 0:
            kind = .video(
                width: try packet.count(upTo: 65_535, "the width"),
                height: try packet.count(upTo: 65_535, "the height"))
        case 1:
            let (rate, divisor) = (try packet.number(), try packet.number())
            guard divisor == 1, rate <= UInt64(Int32.max) else {
                throw InputError("the NUT stream has audio of \(rate)/\(divisor) Hz")
            }
            kind = .audio(sampleRate: Int(rate), channels: try packet.count(upTo: 65_535, "the channels"))
        default: kind = .other
        }
    }

    /// How messages name the codec.
    package var codec: String {
        if let name = planarName { return name }
        let isText = tag.allSatisfy { (0x20...0x7e).contains($0) }
        return isText
            ? String(decoding: tag, as: UTF8.self)
            : "0x" + tag.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// ffmpeg's name of a planar pixel format that has no FourCC. Its tag is a letter, the number of planes, the chroma
    /// subsampling and the bits of a sample; reversed for big-endian (`avpriv_raw_pix_fmt_tags`).
    private var planarName: String? {
        guard tag.count == 4, let first = tag.first, let last = tag.last else { return nil }
        let isBigEndian = first < 0x20
        let parts = isBigEndian ? tag.reversed() : tag
        let bits = isBigEndian ? first : last
        guard (8...16).contains(bits) else { return nil }
        let subsampling = [0x00: "444p", 0x0a: "422p", 0x0b: "420p"][parts[2]]
        let name: String
        switch (String(decoding: parts[..<2], as: UTF8.self), subsampling) {
        case ("Y1", _): name = "gray"
        case ("Y2", _): name = bits == 8 ? "ya8" : "ya"
        case ("Y3", let chroma?): name = "yuv" + chroma
        case ("Y4", let chroma?): name = "yuva" + chroma
        case ("G3", _): name = "gbrp"
        case ("G4", _): name = "gbrap"
        default: return nil
        }
        return bits > 8 ? "\(name)\(bits)\(isBigEndian ? "be" : "le")" : name
    }

    /// The format of raw pictures. NUT contains neither matrix nor range. ffmpeg's grey formats have full range.
    ///
    /// - Throws: for a codec or pixel format that cannot be sent. The error says what to add to the command of ffmpeg.
    package func videoFormat(matrix: ColorMatrix?, range: ColorRange?) throws(InputError) -> VideoSampleFormat? {
        guard case .video(let width, let height) = kind else { return nil }
        let pixelFormat: PixelFormat
        switch codec {
        case "I420": pixelFormat = .i420
        case "NV12": pixelFormat = range == .full ? .nv12FullRange : .nv12VideoRange
        case "NV21": pixelFormat = .nv21
        case "Y42B": pixelFormat = .i422
        case "444P": pixelFormat = .i444
        case "YUY2": pixelFormat = .yuy2
        case "UYVY": pixelFormat = .uyvy
        case "BGRA", Self.text("BGR\0"): pixelFormat = .bgra
        case "RGBA", Self.text("RGB\0"): pixelFormat = .rgba
        case "ARGB", Self.text("\0RGB"): pixelFormat = .argb
        case "ABGR", Self.text("\0BGR"): pixelFormat = .abgr
        case "Y800": pixelFormat = .gray
        case "BGR0", "RGB0":
            throw InputError("48-bit RGB cannot be sent; add -pix_fmt bgr0 to the command of ffmpeg")
        case Self.text("BGR\u{18}"), Self.text("RGB\u{18}"):
            throw InputError("24-bit RGB cannot be sent; add -pix_fmt bgr0 to the command of ffmpeg")
        // For p010, ffmpeg 5.1 writes the tag of RGB555.
        case Self.text("RGB\u{0f}"):
            throw InputError(
                "ffmpeg names p010 and RGB555 alike in NUT; add -pix_fmt nv12 to the command of ffmpeg")
        default:
            throw InputError(
                "video of \(codec) cannot be sent; add -c:v rawvideo -pix_fmt yuv420p to the command of ffmpeg")
        }
        guard width > 0, height > 0 else { throw InputError("the NUT stream has video of \(width)x\(height)") }
        return VideoSampleFormat(
            packed: pixelFormat, width: width, height: height,
            color: ColorDescription(
                matrix: matrix, range: range ?? (pixelFormat == .gray ? .full : nil), defaultsFor: pixelFormat,
                width: width, height: height))
    }

    /// The format of interleaved PCM.
    ///
    /// - Throws: if the format cannot be sent. The error says what to add to the command of ffmpeg.
    package var audioFormat: AudioFormat? {
        get throws(InputError) {
            guard case .audio(let sampleRate, let channels) = kind else { return nil }
            // `PSD` and the bits stand for signed PCM in the default order; they are reversed for big-endian.
            let isBigEndian = tag.first.map { $0 < 0x40 } ?? false
            let encoding: PCMEncoding
            switch isBigEndian ? tag.reversed() : tag {
            case Array("PSD".utf8) + [16]: encoding = .int16
            case Array("PSD".utf8) + [24]: encoding = .int24
            case Array("PSD".utf8) + [32]: encoding = .int32
            case Array("PFD".utf8) + [32]: encoding = .float32
            default:
                throw InputError("audio of \(codec) cannot be sent; add -c:a pcm_s16le to the command of ffmpeg")
            }
            guard (8_000...192_000).contains(sampleRate), (1...8).contains(channels) else {
                throw InputError(
                    "audio of \(sampleRate) Hz with \(channels) channels cannot be sent; "
                        + "add -ar 48000 -ac 2 to the command of ffmpeg")
            }
            return AudioFormat(
                sampleRate: sampleRate, channels: channels, encoding: encoding, isBigEndian: isBigEndian)
        }
    }

    private static func text(_ tag: String) -> String {
        "0x" + tag.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
