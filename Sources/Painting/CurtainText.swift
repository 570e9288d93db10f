internal import FrameGeometry
internal import Lettering
internal import MediaCore

/// Text in the middle of a canvas, as large as it fits. Holds each letter's strokes and place, and the samples of one
/// letter. Used by one thread.
struct CurtainText {
    /// As a share of the canvas's shorter side.
    private static let capitalPart: Float = 1 / 9
    private static let widthPart: Float = 0.9
    private static let heightPart: Float = 0.86
    /// The width of a letter's outline, in units of the font.
    private static let outline: Float = 1.6
    /// In pixels; a thinner line would fade.
    private static let leastPenWidth: Float = 1.1

    private let layout: TextLayout
    private let color: CanvasColor?
    private let isOutlined: Bool
    private let light: CanvasColor
    private let dark: CanvasColor
    private let pen = StrokePen()

    /// Nil if no letter is visible.
    ///
    /// - Parameters:
    ///   - color: nil for white or black, whichever contrasts.
    ///   - isOutlined: whether each letter gets an edge in white or black, whichever contrasts with the letter.
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
        // All edges are drawn first, because an edge must not cover a neighbouring letter.
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

    /// Whether white contrasts with the background of the text, by its mean luma.
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

    /// White and black contrast equally with a grey of luminance 0.18, which is 0.46 after gamma.
    private static func isDark(_ luma: UInt8, _ light: CanvasColor, _ dark: CanvasColor) -> Bool {
        Double(luma) < Double(dark.y) + 0.46 * Double(Int(light.y) - Int(dark.y))
    }
}
