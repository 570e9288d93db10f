import MediaCore

/// A TrackEntry of Matroska (RFC 9559).
struct MatroskaTrack: ContainerStream {
    static let container = "Matroska"

    /// The number that blocks have; zero if the stream names none.
    private(set) var number = 0
    private(set) var kind = ContainerStreamKind.other
    /// The codec ID, such as `A_PCM/INT/LIT`. Printable, as messages show it.
    private(set) var codec = ""
    private(set) var matrix: ColorMatrix?
    private(set) var range: ColorRange?
    private(set) var otherMatrix: UInt64?
    private(set) var hdr: String?
    /// The pixel format of `V_UNCOMPRESSED`.
    private var fourCC: [UInt8] = []
    // The defaults of RFC 9559.
    private var sampleRate = 8000.0
    private var channels = 1
    private var bits = 0
    private var isEncoded = false

    init(_ body: ArraySlice<UInt8>) throws(InputError) {
        var type: UInt64 = 0
        var (width, height) = (0, 0)
        try EBML.visit(body) { (id, body) throws(InputError) in
            switch id {
            case MatroskaID.number: number = try Self.count(body)
            case MatroskaID.type: type = try EBML.unsigned(body)
            // GStreamer ends the text with a zero (RFC 8794, "String Element").
            case MatroskaID.codec: codec = Self.printable(body.prefix { $0 != 0 })
            case MatroskaID.encodings: isEncoded = true
            case MatroskaID.video:
                try EBML.visit(body) { (id, body) throws(InputError) in
                    switch id {
                    case MatroskaID.width: width = try Self.count(body)
                    case MatroskaID.height: height = try Self.count(body)
                    case MatroskaID.fourCC: fourCC = Array(body.prefix(4))
                    case MatroskaID.colour: try takeColours(body)
                    default: break
                    }
                }
            case MatroskaID.audio:
                try EBML.visit(body) { (id, body) throws(InputError) in
                    switch id {
                    case MatroskaID.sampleRate: sampleRate = try EBML.float(body)
                    case MatroskaID.channels: channels = try Self.count(body)
                    case MatroskaID.bits: bits = try Self.count(body)
                    default: break
                    }
                }
            default: break
            }
        }
        switch type {
        case 1: kind = .video(width: width, height: height)
        case 2: kind = .audio(sampleRate: Int(exactly: sampleRate) ?? 0, channels: channels)
        default: break
        }
    }

    private mutating func takeColours(_ body: ArraySlice<UInt8>) throws(InputError) {
        try EBML.visit(body) { (id, body) throws(InputError) in
            switch id {
            case MatroskaID.matrix:
                let value = try EBML.unsigned(body)
                // BT.470BG and SMPTE 170M have the same coefficients. Those of the FCC differ by at most 0.004.
                matrix = ColorMatrix(rawValue: [4, 5].contains(value) ? 6 : UInt8(exactly: value) ?? 0)
                // From SMPTE 240M to YCgCo-Ro, without BT.2020. All else is RGB, unknown or reserved.
                otherMatrix = matrix == nil && (7...17).contains(value) ? value : nil
            case MatroskaID.range:
                let value = try EBML.unsigned(body)
                range = value == 1 ? .video : value == 2 ? .full : nil
            case MatroskaID.transfer:
                let value = try EBML.unsigned(body)
                hdr = value == 16 ? "PQ" : value == 18 ? "HLG" : nil
            default: break
            }
        }
    }

    func pixelFormat(range: ColorRange?) throws(InputError) -> PixelFormat {
        try requirePlain()
        guard codec == "V_UNCOMPRESSED" else {
            throw InputError("video of \(codec) cannot be sent; send a film with \(InputError.filmCommand)")
        }
        if let format = PixelFormat(fourCC: String(decoding: fourCC, as: UTF8.self), range: range) { return format }
        let name = fourCC.isEmpty ? "no FourCC" : Self.printable(fourCC[...])
        throw InputError(
            "raw video of \(name) cannot be sent; add -pix_fmt yuv420p to the command of ffmpeg, or put "
                + "video/x-raw,format=I420 before GStreamer's matroskamux")
    }

    func pcm() throws(InputError) -> (encoding: PCMEncoding, isBigEndian: Bool) {
        try requirePlain()
        guard Int(exactly: sampleRate) != nil else {
            throw InputError("audio of \(sampleRate) Hz cannot be sent; write 48000 Hz, with ffmpeg by -ar 48000")
        }
        switch (codec, bits) {
        case ("A_PCM/INT/LIT", 16): return (.int16, false)
        case ("A_PCM/INT/LIT", 24): return (.int24, false)
        case ("A_PCM/INT/LIT", 32): return (.int32, false)
        case ("A_PCM/INT/BIG", 16): return (.int16, true)
        case ("A_PCM/INT/BIG", 24): return (.int24, true)
        case ("A_PCM/INT/BIG", 32): return (.int32, true)
        case ("A_PCM/FLOAT/IEEE", 32): return (.float32, false)
        default:
            throw InputError(
                "audio of \(codec)\(bits > 0 ? " with \(bits) bits" : "") cannot be sent; add -c:a pcm_s16le to the "
                    + "command of ffmpeg, or put audio/x-raw,format=S16LE before GStreamer's matroskamux")
        }
    }

    private func requirePlain() throws(InputError) {
        guard isEncoded else { return }
        throw InputError("track \(number) of the Matroska stream has ContentEncodings; write it with ffmpeg -f nut")
    }

    private static func count(_ body: ArraySlice<UInt8>) throws(InputError) -> Int {
        let value = try EBML.unsigned(body)
        guard value <= UInt64(Int32.max) else { throw InputError("the Matroska stream has a number out of range") }
        return Int(value)
    }

    /// Nothing from a stream may act on a terminal.
    private static func printable(_ body: ArraySlice<UInt8>) -> String {
        String(decoding: body.prefix(64).map { (0x20...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
