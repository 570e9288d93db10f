import MediaCore

/// Writes NUT as nut.txt describes it, with one frame code for everything, or with elided headers.
struct NUTWriter {
    private(set) var bytes: [UInt8] = Array("nut/multimedia container\0".utf8)
    /// Where each packet and each frame begins.
    private(set) var starts: [Int] = []
    private let shift = 7
    private var streams: [[UInt8]] = []
    private let timeBases: [(Int, Int)]
    private let elided: [UInt8]

    /// - Parameter elided: the bytes that each small frame begins with, and which are not written.
    init(timeBases: [(Int, Int)] = [(1, 1000), (1, 48_000)], elided: [UInt8] = []) {
        self.timeBases = timeBases
        self.elided = elided
    }

    /// `tag` is ffmpeg's.
    mutating func addVideo(_ tag: String, _ width: Int, _ height: Int, timeBase: Int = 0) {
        addStream(0, Array(tag.utf8), timeBase, [width, height, 0, 0, 0])
    }

    mutating func addAudio(_ tag: [UInt8], _ rate: Int, _ channels: Int, timeBase: Int = 1, divisor: Int = 1) {
        addStream(1, tag, timeBase, [rate, divisor, channels])
    }

    mutating func addSubtitles() { addStream(2, Array("UTF8".utf8), 0, []) }

    private mutating func addStream(_ kind: Int, _ tag: [UInt8], _ timeBase: Int, _ last: [Int]) {
        var body: [UInt8] = []
        for value in [streams.count, kind, tag.count] { Self.number(value, &body) }
        body += tag
        for value in [timeBase, shift, 1, 0, 0, 0] + last { Self.number(value, &body) }
        streams.append(body)
    }

    /// Writes the headers of all streams.
    mutating func begin(version: Int = 3, codes: [(flags: Int, fields: [Int])]? = nil) {
        var body: [UInt8] = []
        for value in [version, streams.count, 65_536, timeBases.count] { Self.number(value, &body) }
        for (numerator, denominator) in timeBases {
            Self.number(numerator, &body)
            Self.number(denominator, &body)
        }
        // Coded time, stream and size; the first value is signed, and 0 is 0.
        let index = elided.isEmpty ? 0 : 1
        for (flags, fields) in codes ?? [(8 + 16 + 32, [0, 1, 0, 0, 0, 255, 0, index])] {
            for value in [flags, fields.count] + fields { Self.number(value, &body) }
        }
        Self.number(index, &body)
        if index > 0 {
            Self.number(elided.count, &body)
            body += elided
        }
        packet(0x4e4d_7a56_1f5f_04ad, body)
        for stream in streams { packet(0x4e53_1140_5bf2_f9db, stream) }
    }

    mutating func info(byteCount: Int) { packet(0x4e49_ab68_b596_ba78, [UInt8](repeating: 7, count: byteCount)) }

    /// Sets the last time of all streams.
    mutating func syncPoint(_ ticks: Int, timeBase: Int) {
        var body: [UInt8] = []
        Self.number(ticks * timeBases.count + timeBase, &body)
        Self.number(0, &body)
        packet(0x4e4b_e4ad_eeca_4569, body)
    }

    mutating func repeatStream(_ index: Int) { packet(0x4e53_1140_5bf2_f9db, streams[index]) }

    /// - Parameter isWhole: writes all bits of the time, or its lowest seven.
    mutating func frame(_ stream: Int, _ ticks: Int, _ payload: [UInt8], isWhole: Bool = true, size: Int? = nil) {
        starts.append(bytes.count)
        bytes.append(0)
        Self.number(stream, &bytes)
        Self.number(isWhole ? ticks + 1 << shift : ticks & (1 << shift - 1), &bytes)
        Self.number(size ?? payload.count, &bytes)
        bytes += payload.count <= 4096 ? payload.dropFirst(elided.count) : payload[...]
    }

    mutating func packet(_ startCode: UInt64, _ body: [UInt8], size: Int? = nil) {
        starts.append(bytes.count)
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: startCode >> shift))
        }
        let count = size ?? body.count + 4
        Self.number(count, &bytes)
        if count > 4096 { bytes += [1, 2, 3, 4] }
        bytes += body + [5, 6, 7, 8]
    }

    static func number(_ value: Int, _ bytes: inout [UInt8]) {
        var groups: [UInt8] = [UInt8(value & 0x7f)]
        var rest = value >> 7
        while rest > 0 {
            groups.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        bytes += groups.reversed()
    }
}
