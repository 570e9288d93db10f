import FrameGeometry
import Lettering
import MediaCore
import Painting
import Testing

/// Text on the curtain is there, whole, legible and inside of the canvas.
@Suite struct CurtainTextTests {
    private static let black = CanvasColor.black(.video)
    private static let white = CanvasColor(red: 255, green: 255, blue: 255, color: .hd)
    private static let sentence = "We will be back in a moment, please wait. "
    private static let longest = String(String(repeating: sentence, count: 5).prefix(200))

    private func paint(
        _ text: String, _ width: Int, _ height: Int, style: CurtainStyle = .solid(black), color: CanvasColor? = nil,
        over last: Picture? = nil
    ) -> CanvasBytes {
        let picture = Picture(width: width, height: height)
        let painter = CurtainPainter(style, text: text, textColor: color, canvas: canvasFormat(width, height))
        painter.paint(picture.planes, after: (last ?? picture).planes)
        return withExtendedLifetime(last) { CanvasBytes(picture) }
    }

    /// How often a row of samples goes from dark to bright.
    private func strokes(_ canvas: CanvasBytes, row: Int) -> Int {
        let bright = (0..<canvas.width).map { canvas.y[row * canvas.width + $0] > 125 }
        return zip([false] + bright, bright).count { !$0 && $1 }
    }

    private func brightRows(_ canvas: CanvasBytes) -> [Int] {
        (0..<canvas.height).filter { strokes(canvas, row: $0) > 0 }
    }

    @Test func everythingThatIsWrittenHasAPicture() {
        let font = StrokeFont()
        let softHyphen: UInt8 = 0xAD
        let latin: [UInt8] = Array(0x20...0x7E) + Array(0xA0...0xFF).filter { $0 != softHyphen }
        let characters = latin.map { Character(UnicodeScalar($0)) } + Array("ĄąčďęğıİłŁňőŘřśŞşťŮůŻżž€–„“”…")
        #expect(characters.filter { !font.has($0) } == [])
        let blank: Set<Character> = [" ", "\u{A0}"]
        var pictures: [[[GlyphPoint]]] = []
        for character in characters where !blank.contains(character) {
            let strokes = font.glyph(of: character)?.strokes ?? []
            let points = strokes.joined()
            #expect(!points.isEmpty, "\(character)")
            #expect(points.allSatisfy { (0...20).contains($0.x) && (-6...22).contains($0.y) }, "\(character)")
            #expect(!pictures.contains(strokes), "\(character) looks like another")
            pictures.append(strokes)
        }
        #expect(font.firstMissing(in: "a\nb漢c") == "漢")
    }

    @Test(arguments: [(320, 180), (180, 320), (960, 540), (16, 16), (4096, 16), (16, 4096)])
    func itFits(width: Int, height: Int) {
        let texts = ["i", "Back soon", "Gleich zurück.\nÀ bientôt!", Self.longest, String(repeating: "W", count: 200)]
        for text in texts + [String(repeating: "\n", count: 199) + "."] {
            let canvas = paint(text, width, height)
            let (left, top) = (width / 32, height / 32)
            var outside = 0
            for row in 0..<height {
                for column in 0..<width where canvas.y[row * width + column] != Self.black.y {
                    let isInside = left..<width - left ~= column && top..<height - top ~= row
                    outside += isInside ? 0 : 1
                }
            }
            #expect(outside == 0, "\(text)")
            #expect(canvas.y.contains { $0 > Self.black.y }, "\(text)")
            // Nothing of white is coloured.
            #expect(canvas.u.allSatisfy { $0 == 128 } && canvas.v.allSatisfy { $0 == 128 })
        }
    }

    /// Letters have the strokes that they have on paper.
    @Test(arguments: [(320, 180), (1920, 1080)]) func strokesAreClear(width: Int, height: Int) throws {
        func rows(_ text: String, at parts: [Double]) throws -> [Int] {
            let canvas = paint(text, width, height)
            let bright = brightRows(canvas)
            let (first, last) = (try #require(bright.first), try #require(bright.last))
            return parts.map { strokes(canvas, row: first + Int(Double(last - first) * $0)) }
        }
        #expect(try rows("H", at: [0.2, 0.5, 0.8]) == [2, 1, 2])
        #expect(try rows("T", at: [0.05, 0.5, 0.9]) == [1, 1, 1])
        #expect(try rows("NO", at: [0.5]) == [5])
        #expect(try rows("ill", at: [0.85]) == [3])
        // A gap between the dot and the stroke.
        #expect(try rows("!", at: [0.05, 0.78, 0.95]) == [1, 0, 1])
        #expect(try rows("ä", at: [0.05, 0.21]) == [2, 0])
    }

    /// The longest text is legible on a small canvas: its lines are apart, and nothing is grey only.
    @Test func theLongestTextIsLegible() {
        let canvas = paint(Self.longest, 320, 180)
        let bright = Set(brightRows(canvas))
        let lines = (0..<180).count { bright.contains($0) && !bright.contains($0 - 1) }
        #expect(lines >= 6, "\(lines) lines")
        #expect(canvas.y.count { $0 > 220 } > 1000)
    }

    @Test func itStandsOut() {
        func extremes(_ canvas: CanvasBytes) -> (UInt8, UInt8) { (canvas.y.min()!, canvas.y.max()!) }
        #expect(extremes(paint("Back", 320, 180)) == (16, 235))
        #expect(extremes(paint("Back", 320, 180, style: .solid(Self.white))) == (16, 235))
        // Of a colour of one's own.
        let red = CanvasColor(red: 255, green: 0, blue: 0, color: .hd)
        let colored = paint("Back", 320, 180, color: red)
        #expect(colored.v.max() == red.v && colored.u.min() == red.u && colored.y.max() == red.y)
    }

    /// On a picture that is bright on one side and dark on the other, each letter has an edge of the other kind.
    @Test(arguments: [true, false]) func onGlass(isDark: Bool) {
        let last = Picture(width: 320, height: 180)
        for row in 0..<180 {
            for column in 0..<320 {
                last.planes.y[row * last.planes.yStride + column] = (column < 160) == isDark ? 16 : 235
            }
        }
        for row in 0..<90 {
            for column in 0..<160 {
                last.planes.u[row * last.planes.uStride + column] = 128
                last.planes.v[row * last.planes.vStride + column] = 128
            }
        }
        let style = CurtainStyle.frosted(tint: Self.white, amount: 77)
        let canvas = paint("MMMMMMMM", 320, 180, style: style, over: last)
        for half in [0..<160, 160..<320] {
            var (darkest, brightest) = (UInt8.max, UInt8.min)
            for row in 60..<120 {
                for column in half {
                    darkest = min(darkest, canvas.y[row * 320 + column])
                    brightest = max(brightest, canvas.y[row * 320 + column])
                }
            }
            #expect(darkest < 30 && brightest > 220, "\(half)")
        }
    }

    /// A picture is shown as it is, sample by sample, without text.
    @Test func aPictureIsShown() {
        let shown = Picture(width: 64, height: 48)
        for row in 0..<48 {
            for column in 0..<64 { shown.planes.y[row * shown.planes.yStride + column] = UInt8(row + column) }
        }
        for row in 0..<24 {
            for column in 0..<32 {
                shown.planes.u[row * shown.planes.uStride + column] = UInt8(row)
                shown.planes.v[row * shown.planes.vStride + column] = UInt8(column)
            }
        }
        #expect(paint("Back", 64, 48, style: .picture(shown)) == CanvasBytes(shown))
    }

    /// Bars come back after the curtain was painted over them. They were remembered, and stayed as the curtain was.
    @Test func barsComeBack() throws {
        let canvas = canvasFormat(64, 64)
        let source = VideoSampleFormat(packed: .gray, width: 64, height: 16)
        let plan = GeometryPlan(source: source, transform: .identity, canvas: canvas, fit: .fit)
        let intake = FrameIntake(bars: CanvasBars(canvas: canvas))
        let payload = [UInt8](repeating: 100, count: source.minimumPayloadBytes)
        let picture = Picture(width: 64, height: 64)
        try take(payload, plan, with: intake, into: picture)
        let before = CanvasBytes(picture)
        CurtainPainter(.solid(Self.white), canvas: canvas).paint(picture.planes, after: picture.planes)
        picture.renewSerial()
        try take(payload, plan, with: intake, into: picture)
        #expect(CanvasBytes(picture) == before)
    }
}
