/// The type of an FLV tag; raw values are also RTMP message types.
package enum FLVTagType: UInt8, CaseIterable, Sendable {
    case audio = 8
    case video = 9
    /// Script data: onMetaData.
    case script = 18
}

/// The structure of an FLV file around tag bodies (Adobe FLV specification 10.1, E.2 to E.4.1).
///
/// A file is `header`, then for each tag `tagHeader`, body and `previousTagSize`.
package enum FLVFile {
    /// The file header for audio and video, with the first PreviousTagSize, 0.
    package static var header: InlineArray<13, UInt8> {
        [0x46, 0x4c, 0x56, 0x01, 0x05, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x00]
    }

    /// The maximum size of a body, which has 24 bits.
    package static let maximumBodyBytes = 0xff_ffff

    package static let tagHeaderBytes = 11

    /// The header before a body; traps above `maximumBodyBytes`.
    ///
    /// - Parameter timestamp: milliseconds, modulo 2^32.
    package static func tagHeader(_ type: FLVTagType, bodyBytes: Int, timestamp: UInt32) -> InlineArray<11, UInt8> {
        precondition((0...maximumBodyBytes).contains(bodyBytes), "an FLV tag body has at most 16,777,215 bytes")
        return [
            type.rawValue,
            UInt8(truncatingIfNeeded: bodyBytes >> 16), UInt8(truncatingIfNeeded: bodyBytes >> 8),
            UInt8(truncatingIfNeeded: bodyBytes),
            UInt8(truncatingIfNeeded: timestamp >> 16), UInt8(truncatingIfNeeded: timestamp >> 8),
            UInt8(truncatingIfNeeded: timestamp), UInt8(truncatingIfNeeded: timestamp >> 24),
            0, 0, 0,
        ]
    }

    /// The four bytes after a body: the size of its tag, including the tag header.
    package static func previousTagSize(bodyBytes: Int) -> InlineArray<4, UInt8> {
        let size = UInt32(bodyBytes + tagHeaderBytes)
        return [
            UInt8(truncatingIfNeeded: size >> 24), UInt8(truncatingIfNeeded: size >> 16),
            UInt8(truncatingIfNeeded: size >> 8), UInt8(truncatingIfNeeded: size),
        ]
    }
}
