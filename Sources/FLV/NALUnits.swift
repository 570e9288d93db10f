package import MediaCore

/// The H.264 NAL unit types that matter to a publisher (ISO/IEC 14496-10, table 7-1).
package enum NALUnitType: UInt8, Sendable {
    case slice = 1
    case idrSlice = 5
    case supplementalEnhancementInformation = 6
    case sequenceParameterSet = 7
    case pictureParameterSet = 8
    case accessUnitDelimiter = 9
    case fillerData = 12

    /// Whether access units of an FLV stream omit this type: the sequence header has the parameter sets, and with
    /// lengths, delimiters and filler are not needed.
    var isDroppedFromAccessUnits: Bool {
        switch self {
        case .sequenceParameterSet, .pictureParameterSet, .accessUnitDelimiter, .fillerData: true
        case .slice, .idrSlice, .supplementalEnhancementInformation: false
        }
    }
}

/// Access units in both forms: with start codes (Annex B) and with four-byte lengths.
package enum NALUnits {
    /// The size of a NAL unit's length field.
    package static let lengthBytes = 4

    /// The maximum output of `lengthPrefixed` for `annexBBytes`. With its start code of at least three bytes, each unit
    /// has at least four bytes, and grows by at most one.
    package static func maximumLengthPrefixedBytes(annexBBytes: Int) -> Int { annexBBytes + annexBBytes / 4 }

    /// Converts an Annex B access unit to four-byte lengths, without parameter sets, delimiters and filler. Allocates
    /// nothing.
    ///
    /// - Returns: bytes written; nil if `destination` is too small. `maximumLengthPrefixedBytes` is always enough.
    package static func lengthPrefixed(
        annexB source: RawSpan, codec: VideoCodec, into destination: UnsafeMutableRawBufferPointer
    ) -> Int? {
        var reader = AnnexBReader(source)
        var written = 0
        while let unit = reader.next() {
            if codec.isDroppedFromAccessUnits(unitBeginningWith: source.byte(unit.lowerBound)) { continue }
            guard written + lengthBytes + unit.count <= destination.count else { return nil }
            unsafe destination.storeBytes(of: UInt32(unit.count).bigEndian, toByteOffset: written, as: UInt32.self)
            written += lengthBytes
            unsafe source.extracting(unit).withUnsafeBytes {
                unsafe UnsafeMutableRawBufferPointer(rebasing: destination[written...]).copyMemory(from: $0)
            }
            written += unit.count
        }
        return written
    }

    /// Whether no later frame refers to this length-prefixed access unit, according to its first slice.
    package static func isDisposable(_ accessUnit: RawSpan, codec: VideoCodec) -> Bool {
        var reader = LengthPrefixedReader(accessUnit)
        while let unit = try? reader.next() {
            let header = accessUnit.byte(unit.lowerBound)
            if let isDisposable = codec.isDisposable(unitBeginningWith: header) { return isDisposable }
        }
        return false
    }

    /// Returns a NAL unit's payload without emulation prevention bytes, which have the value 03 (7.4.1.1).
    static func removingEmulationPrevention(_ payload: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(payload.count)
        var zeros = 0
        for byte in payload {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
        }
        return result
    }
}

/// Finds the NAL units between start codes in an Annex B byte stream (ISO/IEC 14496-10, B.1).
///
/// Supports start codes of three and four bytes, and leading and trailing zero bytes. Units are never empty. Skips
/// bytes before the first start code.
package struct AnnexBReader: ~Escapable {
    private let bytes: RawSpan
    /// The offset after the last start code, or the end.
    private var start: Int

    @_lifetime(copy bytes)
    package init(_ bytes: RawSpan) {
        self.bytes = bytes
        start = Self.startCode(in: bytes, from: 0).map { $0 + 3 } ?? bytes.byteCount
    }

    /// The range of the next unit, header byte first; nil at the end.
    @_lifetime(self: copy self)
    package mutating func next() -> Range<Int>? {
        while start < bytes.byteCount {
            let begin = start
            let nextCode = Self.startCode(in: bytes, from: begin)
            var end = nextCode ?? bytes.byteCount
            start = nextCode.map { $0 + 3 } ?? bytes.byteCount
            // Removes the first byte of a four-byte start code, and trailing_zero_8bits; a unit itself never ends with
            // a zero byte.
            while end > begin, bytes.byte(end - 1) == 0 { end -= 1 }
            if end > begin { return begin..<end }
        }
        return nil
    }

    /// The offset of the next 00 00 01 at or after `from`.
    private static func startCode(in bytes: RawSpan, from: Int) -> Int? {
        var index = from
        while index + 3 <= bytes.byteCount {
            switch bytes.byte(index + 2) {
            case 0: index += 1
            case 1:
                if bytes.byte(index) == 0, bytes.byte(index + 1) == 0 { return index }
                index += 3
            default: index += 3
            }
        }
        return nil
    }
}

/// Finds the NAL units of an access unit with four-byte lengths (ISO/IEC 14496-15, 5.3.4.2).
package struct LengthPrefixedReader: ~Escapable {
    private let bytes: RawSpan
    private var position = 0

    @_lifetime(copy bytes)
    package init(_ bytes: RawSpan) { self.bytes = bytes }

    /// The range of the next unit, header byte first; nil at the end.
    ///
    /// - Throws: `.truncated` if a length exceeds the input, `.invalid` for an empty unit.
    @_lifetime(self: copy self)
    package mutating func next() throws(CodecConfigurationError) -> Range<Int>? {
        let rest = bytes.byteCount - position
        guard rest > 0 else { return nil }
        guard rest >= NALUnits.lengthBytes else { throw .truncated("NAL unit length") }
        let count = Int(bytes.bigEndian(position, count: NALUnits.lengthBytes))
        guard count > 0 else { throw .invalid("empty NAL unit") }
        guard count <= rest - NALUnits.lengthBytes else { throw .truncated("NAL unit") }
        let begin = position + NALUnits.lengthBytes
        position = begin + count
        return begin..<position
    }
}
