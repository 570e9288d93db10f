package import MediaCore

/// The wire format of damage: a value of extension 3. It lists what differs from an earlier picture.
///
/// | offset | type | |
/// |---:|---|---|
/// | 0 | u32 | sequence of the `video` message of the earlier picture |
/// | 4 | u16 | number of rectangles, 1 to 16 |
/// | 6 | u16 | reserved |
/// | 8 + 8 n | u16 u16 u16 u16 | x, y, width, height of rectangle n, in pixels as the picture is stored |
///
/// It names the earlier picture, so that both sides need not agree on which picture was the last. A receiver without
/// that picture takes the new picture as a whole.
package struct DamageField: Equatable, Sendable {
    private static let headBytes = 8
    private static let rectangleBytes = 8

    /// The sequence number of the earlier picture.
    package var since: UInt32
    package var damage: PictureDamage

    package init(since: UInt32, damage: PictureDamage) {
        self.since = since
        self.damage = damage
    }

    /// Decodes a value that is not empty. All rectangles are inside the picture.
    init(_ value: RawSpan, pictureWidth: Int, pictureHeight: Int) throws(ProtocolError) {
        func refused(_ why: String) -> ProtocolError {
            ProtocolError(.malformedExtension, fatal: false, "video: damage: \(why)")
        }
        guard value.byteCount >= Self.headBytes else { throw refused("\(value.byteCount) bytes are too few") }
        let count = Int(value.uint16(at: 4))
        guard (1...PictureDamage.capacity).contains(count) else {
            throw refused("\(count) rectangles; a list has 1 to \(PictureDamage.capacity)")
        }
        let byteCount = Self.headBytes + Self.rectangleBytes * count
        guard value.byteCount == byteCount else {
            throw refused("\(count) rectangles take \(byteCount) bytes, not \(value.byteCount)")
        }
        var damage = PictureDamage()
        for index in 0..<count {
            let at = Self.headBytes + Self.rectangleBytes * index
            let rectangle = PictureDamage.Rectangle(
                x: value.uint16(at: at), y: value.uint16(at: at + 2), width: value.uint16(at: at + 4),
                height: value.uint16(at: at + 6))
            guard rectangle.lies(inWidth: pictureWidth, height: pictureHeight) else {
                throw refused("rectangle \(index) is empty, or is not in the picture")
            }
            _ = damage.add(rectangle)
        }
        self.init(since: value.uint32(at: 0), damage: damage)
    }

    /// Appends the extension as not critical: a receiver that does not know it takes the picture as a whole.
    func append(to bytes: inout [UInt8]) {
        bytes.append(littleEndian: MessageExtensions.Tag.damage.rawValue)
        bytes.append(littleEndian: UInt16(Self.headBytes + Self.rectangleBytes * damage.count))
        bytes.append(littleEndian: since)
        bytes.append(littleEndian: UInt16(damage.count))
        bytes.append(zeros: 2)
        for index in 0..<damage.count {
            let rectangle = damage[index]
            for number in [rectangle.x, rectangle.y, rectangle.width, rectangle.height] {
                bytes.append(littleEndian: number)
            }
        }
    }
}
