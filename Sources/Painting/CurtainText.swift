internal import FrameGeometry
internal import Lettering
internal import MediaCore

/// Text in the middle of a canvas, as large as there is room for it. Holds each letter's strokes and place, and the
/// samples of one letter; used by one thread.
struct CurtainText {
    /// Of the canvas's shorter side.
    private static let capitalPart: Float = 1 / 9
    private static let widthPart: Float = 0.9
    private static let heightPart: Float = 0.86
    /// What is around a letter in units of the font, where it is outlined.
    private static let outline: Float = 1.6
    /// A thinner line would fade, in pixels.
    private static let leastPenWidth: Float = 1.1

    private let layout: TextLayout
    private let color: CanvasColor?
    private let isOutlined: Bool
    private let light: CanvasColor
    private let dark: CanvasColor
    private let pen = StrokePen()

    /// Nil where there is nothing to be seen.
    ///
    /// - Parameters:
    ///   - color: nil for white or black, whichever stands out.
    ///   - isOutlined: each letter has an edge in the other of the two.
    init?(_ text: String, color: CanvasColor?, isOutlined: Bool, canvas: CanvasFormat) {
        let layout = TextLayout(
            text, width: Float(canvas.width) * Self.widthPart, height: Float(canvas.height) * Self.heightPart,
            capitalHeight: Float(min(canvas.width, canvas.height)) * Self.capitalPart)
        guard layout.letters.contains(where: { !layout.glyphs[$0.glyph].strokes.isEmpty }) else { return nil }
        self.layout = layout
        self.color = color
        self.isOutlined = isOutlined
        light = CanvasColor(red: 255, green: 255, blue: 255, color: canvas.color)
        dark = .black(canvas.color.range)
    }

    func draw(on picture: PicturePlanes) {
        let color = self.color ?? (isDark(picture) ? light : dark)
        let penWidth = max(StrokeFont.penWidth * layout.scale, Self.leastPenWidth)
        // All edges first: one must not lie on its neighbour.
        if isOutlined {
            let edge = Self.isDark(color.y, light, dark) ? light : dark
            draw(on: picture, edge, penWidth: penWidth + 2 * max(Self.outline * layout.scale, 1))
        }
        draw(on: picture, color, penWidth: penWidth)
    }

    private func draw(on picture: PicturePlanes, _ color: CanvasColor, penWidth: Float) {
        let (middleX, middleY) = (Float(picture.width) / 2, Float(picture.height) / 2)
        for letter in layout.letters {
            pen.draw(
                layout.glyphs[letter.glyph].strokes, x: middleX + letter.x, baseline: middleY + letter.baseline,
                scale: layout.scale, width: penWidth, color, on: picture)
        }
    }

    /// Whether white stands out from what is behind the text, by its mean.
    private func isDark(_ picture: PicturePlanes) -> Bool {
        let width = min(picture.width, max(1, Int(layout.width)))
        let height = min(picture.height, max(1, Int(layout.height)))
        let (left, top) = ((picture.width - width) / 2, (picture.height - height) / 2)
        var sum = 0
        for row in top..<top + height {
            for column in left..<left + width { unsafe sum += Int(picture.y[row * picture.yStride + column]) }
        }
        return Self.isDark(UInt8(sum / (width * height)), light, dark)
    }

    /// White and black stand out equally from a grey whose luminance is 0.18, which in gamma is 0.46.
    private static func isDark(_ luma: UInt8, _ light: CanvasColor, _ dark: CanvasColor) -> Bool {
        Double(luma) < Double(dark.y) + 0.46 * Double(Int(light.y) - Int(dark.y))
    }
}
