internal import MediaCore

/// The wire format of secure regions: the value of extension 1.
///
/// | offset | type | |
/// |---:|---|---|
/// | 0 | u16 | number of rectangles, up to 64 |
/// | 2 | u16 | bit 0: nothing of the picture is shown; the others are zero |
/// | 4 + 16 n | i32 i32 u32 u32 | x, y, width, height of rectangle n, in pixels as the picture is stored |
///
/// Rectangles may overlap, be empty and lie partly or wholly outside the picture. If a list's length is not exactly
/// what it says, it is refused with the picture, because what it hides is unknown.
enum SecureRegionsField {
    /// The maximum number of rectangles in a list.
    static let capacity = SecureRegions.capacityPerSource
    private static let headBytes = 4
    private static let rectangleBytes = 16
    private static let coversAll: UInt16 = 1

    static func decode(
        _ value: RawSpan, pictureWidth: Int, pictureHeight: Int
    ) throws(ProtocolError) -> SecureRegions {
        let count = try check(value)
        var regions = SecureRegions()
        regions.coversAll = value.uint16(at: 2) & coversAll != 0
        for index in 0..<count {
            let at = headBytes + rectangleBytes * index
            regions.hide(
                x: Int(Int32(bitPattern: value.uint32(at: at))), y: Int(Int32(bitPattern: value.uint32(at: at + 4))),
                width: value.size(at: at + 8), height: value.size(at: at + 12), pictureWidth: pictureWidth,
                pictureHeight: pictureHeight)
        }
        return regions
    }

    /// The number of rectangles of a valid list.
    static func check(_ value: RawSpan) throws(ProtocolError) -> Int {
        func refused(_ why: String) -> ProtocolError {
            ProtocolError(
                .badSecureRegions, fatal: false, "video: secure regions: \(why); the picture is refused and not shown")
        }
        guard value.byteCount >= headBytes else { throw refused("\(value.byteCount) bytes are too few for a list") }
        let (count, flags) = (Int(value.uint16(at: 0)), value.uint16(at: 2))
        guard count <= capacity else {
            throw refused("\(count) rectangles; at most \(capacity) are allowed")
        }
        guard value.byteCount == headBytes + rectangleBytes * count else {
            throw refused(
                "\(count) rectangles take \(headBytes + rectangleBytes * count) bytes, not \(value.byteCount)")
        }
        guard flags & ~coversAll == 0 else { throw refused("flags \(flags) are unknown") }
        return count
    }

    /// Appends the extension, or nothing without secure regions.
    static func append(_ regions: SecureRegions, to bytes: inout [UInt8]) {
        guard !regions.isEmpty else { return }
        bytes.append(littleEndian: MessageExtensions.criticalBit | MessageExtensions.Tag.secureRegions.rawValue)
        bytes.append(littleEndian: UInt16(headBytes + rectangleBytes * regions.count))
        bytes.append(littleEndian: UInt16(regions.count))
        bytes.append(littleEndian: regions.coversAll ? coversAll : 0)
        for index in 0..<regions.count {
            let rectangle = regions[index]
            bytes.append(uint32: Int(rectangle.left))
            bytes.append(uint32: Int(rectangle.top))
            bytes.append(uint32: Int(rectangle.right - rectangle.left))
            bytes.append(uint32: Int(rectangle.bottom - rectangle.top))
        }
    }
}
