/// Writes Matroska as RFC 9559 describes it.
struct MatroskaWriter {
    private(set) var bytes: [UInt8] = []
    private var tracks: [[UInt8]] = []
    private var segmentStart = 0

    /// The number of a video track with a FourCC is its position; it begins at 1.
    mutating func addVideo(
        _ fourCC: String, _ width: Int, _ height: Int, codec: String = "V_UNCOMPRESSED",
        colour: (matrix: Int, range: Int)? = nil, transfer: Int = 1, more: [UInt8] = []
    ) {
        var video = Self.element(0xb0, width) + Self.element(0xba, height) + Self.element(0x2eb524, Array(fourCC.utf8))
        if let (matrix, range) = colour {
            let elements = [(0x55b1, matrix), (0x55b9, range), (0x55ba, transfer)].map { Self.element($0, $1) }
            video += Self.element(0x55b0, Array(elements.joined()))
        }
        addTrack(1, codec, Self.element(0xe0, video) + more)
    }

    mutating func addAudio(
        _ rate: Double, _ channels: Int, bits: Int = 16, codec: String = "A_PCM/INT/LIT", number: Int? = nil
    ) {
        let audio =
            Self.element(0xb5, Self.bytes(rate.bitPattern, 8)) + Self.element(0x9f, channels)
            + (bits > 0 ? Self.element(0x6264, bits) : [])
        addTrack(2, codec, Self.element(0xe1, audio), number)
    }

    mutating func addSubtitles(more: [UInt8] = []) { addTrack(17, "S_TEXT/UTF8", more) }

    private mutating func addTrack(_ type: Int, _ codec: String, _ rest: [UInt8], _ number: Int? = nil) {
        tracks.append(
            Self.element(0xd7, number ?? tracks.count + 1) + Self.element(0x83, type)
                + Self.element(0x86, Array(codec.utf8) + [0]) + rest)
    }

    /// Writes the headers, with elements that readers skip.
    mutating func begin(scale: Int = 1_000_000) {
        bytes += Self.element(0x1a45_dfa3, Self.element(0x4282, Array("matroska".utf8)))
        bytes += Self.bytes(0x1853_8067, 4)
        segmentStart = bytes.count + 8
        bytes += [0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]
        bytes += Self.element(0x114d_9b74, [1, 2, 3]) + Self.element(0xec, [UInt8](repeating: 0, count: 70))
        bytes += Self.element(0x1549_a966, Self.element(0x2ad7b1, scale) + Self.element(0x4d80, Array("test".utf8)))
        repeatTracks()
    }

    /// The segment has the size of all that is written, and `more` bytes that are missing.
    mutating func setSegmentSize(more: Int) {
        let size = Self.bytes(UInt64(1 << 56 | (bytes.count - segmentStart + more)), 8)
        bytes.replaceSubrange(segmentStart - 8..<segmentStart, with: size)
    }

    mutating func repeatTracks() { bytes += Self.element(0x1654_ae6b, tracks.flatMap { Self.element(0xae, $0) }) }

    /// Begins a cluster of unknown size.
    mutating func cluster(_ time: Int) { bytes += Self.bytes(0x1f43_b675, 4) + [0xff] + Self.element(0xe7, time) }

    /// - Parameters:
    ///   - offset: the time since that of the cluster.
    ///   - isGroup: writes a BlockGroup of a known size.
    mutating func block(
        _ track: Int, _ offset: Int, _ payload: [UInt8], isGroup: Bool = false, lacing: UInt8 = 0
    ) {
        let offset = UInt16(bitPattern: Int16(offset))
        let body = [0x80 | UInt8(track), UInt8(offset >> 8), UInt8(offset & 0xff), 0x80 | lacing] + payload
        bytes +=
            isGroup ? Self.element(0xa0, Self.element(0xa1, body) + Self.element(0x9b, 40)) : Self.element(0xa3, body)
    }

    mutating func raw(_ id: Int, _ body: [UInt8]) { bytes += Self.element(id, body) }

    static func element(_ id: Int, _ value: Int) -> [UInt8] { element(id, bytes(UInt64(value), 4)) }

    static func element(_ id: Int, _ body: [UInt8]) -> [UInt8] {
        let idBytes = id > 0xff_ffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1
        let count = body.count
        let size = count < 127 ? [0x80 | UInt8(count)] : [0x10 | UInt8(count >> 24)] + bytes(UInt64(count), 3)
        return bytes(UInt64(id), idBytes) + size + body
    }

    private static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
