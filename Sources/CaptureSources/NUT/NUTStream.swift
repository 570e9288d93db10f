import MediaCore

/// A stream header of NUT.
struct NUTStream: ContainerStream {
    static let container = "NUT"

    /// Its index among the streams.
    let number: Int
    let kind: ContainerStreamKind
    /// The codec, as a FourCC or another tag of ffmpeg.
    let tag: [UInt8]
    let timeBase: Int
    /// Coded times below `1 << ptsShift` are the low bits of a time.
    let ptsShift: Int

    init(_ body: [UInt8], of header: NUTMainHeader) throws(InputError) {
        var packet = NUTPacket(body)
        number = try packet.count(upTo: header.streamCount - 1, "a stream")
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

    var codec: String {
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

    /// NUT contains neither matrix nor range.
    var matrix: ColorMatrix? { nil }
    var range: ColorRange? { nil }

    func pixelFormat(range: ColorRange?) throws(InputError) -> PixelFormat {
        if let format = PixelFormat(fourCC: String(decoding: tag, as: UTF8.self), range: range) { return format }
        switch codec {
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
    }

    func pcm() throws(InputError) -> (encoding: PCMEncoding, isBigEndian: Bool) {
        // `PSD` and the bits stand for signed PCM in the default order; they are reversed for big-endian.
        let isBigEndian = tag.first.map { $0 < 0x40 } ?? false
        switch isBigEndian ? tag.reversed() : tag {
        case Array("PSD".utf8) + [16]: return (.int16, isBigEndian)
        case Array("PSD".utf8) + [24]: return (.int24, isBigEndian)
        case Array("PSD".utf8) + [32]: return (.int32, isBigEndian)
        case Array("PFD".utf8) + [32]: return (.float32, isBigEndian)
        default: throw InputError("audio of \(codec) cannot be sent; add -c:a pcm_s16le to the command of ffmpeg")
        }
    }

    private static func text(_ tag: String) -> String {
        "0x" + tag.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
