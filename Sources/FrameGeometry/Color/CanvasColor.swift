package import MediaCore

/// One Y'CbCr colour in the canvas's own matrix and range.
package struct CanvasColor: Hashable, Sendable {
    package var y: UInt8
    package var u: UInt8
    package var v: UInt8

    package init(y: UInt8, u: UInt8, v: UInt8) {
        self.y = y
        self.u = u
        self.v = v
    }

    /// Black on a canvas of this range.
    package static func black(_ range: ColorRange) -> CanvasColor {
        CanvasColor(y: range == .video ? 16 : 0, u: 128, v: 128)
    }
}
