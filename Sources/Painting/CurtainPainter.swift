package import FrameGeometry
package import MediaCore

/// What viewers see in place of a private picture.
package enum CurtainStyle: Sendable {
    case solid(CanvasColor)
    /// The last allowed picture, reduced to at most 16 pixels across, behind glass: `amount` of `tint`, 0 to 256.
    case frosted(tint: CanvasColor, amount: Int)
    /// A picture of the canvas's size. Nothing may write to it any more.
    case picture(Picture)
}

/// Paints the curtain. Holds a few hundred bytes, the places of its text's letters, and the picture of a style that has
/// one. Used by one thread.
package final class CurtainPainter {
    private static let across = 16

    private let style: CurtainStyle
    private let text: CurtainText?
    private let black: CanvasColor
    /// Has so few pixels that nothing can be read in them.
    private let small: Picture

    /// - Parameters:
    ///   - text: written on the curtain; empty for none. A picture gets no text.
    ///   - textColor: nil for white or black, whichever contrasts with the background.
    package init(
        _ style: CurtainStyle, text: String = "", textColor: CanvasColor? = nil, canvas: CanvasFormat
    ) {
        self.style = style
        black = .black(canvas.color.range)
        let width = min(Self.across, canvas.width)
        // Even, with pixels that are as square as possible.
        let height = max(2, (canvas.height * width / canvas.width + 1) / 2 * 2)
        small = Picture(width: width, height: min(height, canvas.height))
        self.text =
            switch style {
            case .picture: nil
            // The background may be bright in one place and dark in another.
            case .frosted: CurtainText(text, color: textColor, isOutlined: true, canvas: canvas)
            case .solid: CurtainText(text, color: textColor, isOutlined: false, canvas: canvas)
            }
    }

    /// Whether the last picture shows through the curtain.
    package var showsThrough: Bool { if case .frosted = style { true } else { false } }

    /// Paints all of `picture`.
    ///
    /// - Parameter last: the last allowed picture, which may be `picture` itself; nil if nothing of it may be visible.
    package func paint(_ picture: PicturePlanes, after last: PicturePlanes?) {
        switch style {
        case .solid(let color): picture.fill(color)
        case .frosted(let tint, let amount):
            let glass = small.planes
            if let last { last.scale(to: glass, .areas) } else { glass.fill(black) }
            for row in 0..<glass.height {
                for column in 0..<glass.width {
                    unsafe Self.blend(&glass.y[row * glass.yStride + column], tint.y, amount)
                }
            }
            for row in 0..<glass.height / 2 {
                for column in 0..<glass.width / 2 {
                    unsafe Self.blend(&glass.u[row * glass.uStride + column], tint.u, amount)
                    unsafe Self.blend(&glass.v[row * glass.vStride + column], tint.v, amount)
                }
            }
            glass.scale(to: picture, .bilinear)
        case .picture(let shown): shown.planes.scale(to: picture, .nearest)
        }
        text?.draw(on: picture)
    }

    private static func blend(_ sample: inout UInt8, _ tint: UInt8, _ amount: Int) {
        sample = UInt8((Int(sample) * (256 - amount) + Int(tint) * amount) / 256)
    }
}
