/// The kind of an FLV tag; the raw values are also RTMP's message types.
package enum FLVTagType: UInt8, CaseIterable, Sendable {
    case audio = 8
    case video = 9
    /// Script data: onMetaData.
    case script = 18
}

/// The frame around tag bodies in an FLV file (Adobe FLV specification 10.1, E.2 to E.4.1).
///
/// A file is `header`, then for every tag `tagHeader`, the body, and `previousTagSize`.
package enum FLVFile {
    /// The file header, which announces audio and video, with the size 0 of the tag before the first.
    package static var header: InlineArray<13, UInt8> {
        [0x46, 0x4c, 0x56, 0x01, 0x05, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x00]
    }

    /// Bytes of a body at most: its size is written in 24 bits.
    package static let maximumBodyBytes = 0xff_ffff

    /// Bytes of a tag's header.
    package static let tagHeaderBytes = 11

    /// The bytes before a body; traps on more than `maximumBodyBytes`.
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

    /// The four bytes behind a body: the size of its tag with the tag header.
    package static func previousTagSize(bodyBytes: Int) -> InlineArray<4, UInt8> {
        let size = UInt32(bodyBytes + tagHeaderBytes)
        return [
            UInt8(truncatingIfNeeded: size >> 24), UInt8(truncatingIfNeeded: size >> 16),
            UInt8(truncatingIfNeeded: size >> 8), UInt8(truncatingIfNeeded: size),
        ]
    }
}
