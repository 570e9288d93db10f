/// The main header of a NUT stream: time bases, and the meaning of each frame code.
struct NUTMainHeader: Equatable {
    /// The bits of a frame's flags (nut.txt, `frame_flags`). The other bits have no bytes in the frame's header.
    struct Flags: OptionSet {
        let rawValue: UInt64
        static let endOfRelevance = Flags(rawValue: 1 << 1)
        static let codedPTS = Flags(rawValue: 1 << 3)
        static let streamID = Flags(rawValue: 1 << 4)
        static let sizeMSB = Flags(rawValue: 1 << 5)
        static let checksum = Flags(rawValue: 1 << 6)
        static let reserved = Flags(rawValue: 1 << 7)
        static let sideData = Flags(rawValue: 1 << 8)
        static let headerIndex = Flags(rawValue: 1 << 10)
        static let matchTime = Flags(rawValue: 1 << 11)
        static let codedFlags = Flags(rawValue: 1 << 12)
        static let invalid = Flags(rawValue: 1 << 13)
    }

    /// What a frame code stands for.
    struct FrameCode: Equatable {
        var flags: Flags = .invalid
        var stream = 0
        var sizeMultiplier: UInt64 = 1
        var sizeLSB: UInt64 = 0
        var ptsDelta: Int64 = 0
        var reservedCount = 0
        var headerIndex = 0
    }

    struct TimeBase: Equatable {
        var numerator: Int64
        var denominator: Int64
    }

    private static let maxStreams = 16
    private static let maxReserved = 16
    static let maxElidedBytes = 4096
    /// `N` begins a start code. It is not a frame code.
    static let startByte = 0x4e

    let streamCount: Int
    let timeBases: [TimeBase]
    let frameCodes: [FrameCode]
    /// The bytes that some frames begin with, which the stream leaves out. The first entry is empty.
    let elidedHeaders: [[UInt8]]

    init(_ body: [UInt8]) throws(InputError) {
        var packet = NUTPacket(body)
        let version = try packet.number()
        guard version == 3 else {
            throw InputError("the NUT stream has version \(version), which is not stable; version 3 is read")
        }
        streamCount = try packet.count(upTo: Self.maxStreams, "the number of streams")
        _ = try packet.number()  // max_distance
        var bases: [TimeBase] = []
        for _ in 0..<(try packet.count(upTo: Self.maxStreams, "the number of time bases")) {
            let (numerator, denominator) = (try packet.number(), try packet.number())
            let valid = 1...UInt64(Int32.max)
            guard valid.contains(numerator), valid.contains(denominator) else {
                throw InputError("the NUT stream has the time base \(numerator)/\(denominator)")
            }
            bases.append(TimeBase(numerator: Int64(numerator), denominator: Int64(denominator)))
        }
        guard !bases.isEmpty else { throw InputError("the NUT stream has no time base") }
        timeBases = bases
        frameCodes = try Self.frameCodes(&packet)
        var headers: [[UInt8]] = [[]]
        for _ in 0..<(try packet.count(upTo: 127, "the number of elided headers")) {
            headers.append(try packet.bytes(upTo: Self.maxElidedBytes, "the size of an elided header"))
        }
        elidedHeaders = headers
    }

    private static func frameCodes(_ packet: inout NUTPacket) throws(InputError) -> [FrameCode] {
        var codes = [FrameCode](repeating: FrameCode(), count: 256)
        var code = FrameCode()
        var index = 0
        while index < 256 {
            code.flags = Flags(rawValue: try packet.number())
            let fields = try packet.count(upTo: 32, "the fields of a frame code")
            if fields > 0 { code.ptsDelta = try packet.signed() }
            if fields > 1 { code.sizeMultiplier = try packet.number() }
            if fields > 2 { code.stream = try packet.count(upTo: maxStreams, "a stream") }
            code.sizeLSB = fields > 3 ? try packet.number() : 0
            code.reservedCount = fields > 4 ? try packet.count(upTo: maxReserved, "reserved fields") : 0
            let count: UInt64
            if fields > 5 {
                count = try packet.number()
            } else {
                let (rest, isNegative) = code.sizeMultiplier.subtractingReportingOverflow(code.sizeLSB)
                count = isNegative ? 0 : rest
            }
            if fields > 6 { _ = try packet.signed() }  // match_time
            if fields > 7 { code.headerIndex = try packet.count(upTo: 127, "an elided header") }
            for _ in stride(from: 8, to: fields, by: 1) { _ = try packet.number() }
            let first = code.sizeLSB
            var left = count
            while left > 0, index < 256 {
                if index != startByte {
                    codes[index] = code
                    codes[index].sizeLSB = first &+ (count - left)
                    left -= 1
                }
                index += 1
            }
        }
        return codes
    }
}
