internal import MediaCore

/// Which rows of a picture have changed, in bands of 16 rows, as found by comparison. It has a fixed size.
struct ChangedRows {
    static let bandRows = 16
    /// Bands in the largest picture, which has 4096 rows.
    private static let capacity = 256

    private let width: Int
    private let height: Int
    private var words = InlineArray<4, UInt64>(repeating: 0)
    private(set) var count = 0

    var bandCount: Int { (height + Self.bandRows - 1) / Self.bandRows }

    /// - Parameters: the picture's size, at most 4096 each.
    init(width: Int, height: Int) {
        precondition(height <= Self.bandRows * Self.capacity, "more rows than a picture has")
        (self.width, self.height) = (width, height)
    }

    func hasChanged(_ band: Int) -> Bool { words[band / 64] >> (band % 64) & 1 == 1 }

    mutating func note(_ band: Int) {
        guard !hasChanged(band) else { return }
        words[band / 64] |= 1 << (band % 64)
        count += 1
    }

    /// Rectangles as wide as the picture; nil if so much has changed that damage is not worth sending.
    var damage: PictureDamage? {
        guard count * 4 <= bandCount * 3 else { return nil }
        var damage = PictureDamage()
        var band = 0
        while band < bandCount {
            guard hasChanged(band) else {
                band += 1
                continue
            }
            var end = band + 1
            // The last rectangle takes all that is left.
            let isLast = damage.count == PictureDamage.capacity - 1
            while end < bandCount, isLast || hasChanged(end) { end += 1 }
            let top = band * Self.bandRows
            _ = damage.add(
                PictureDamage.Rectangle(
                    x: 0, y: UInt16(top), width: UInt16(width), height: UInt16(min(height, end * Self.bandRows) - top)))
            band = end
        }
        return damage
    }
}
