import FrameGeometry
import MediaCore
import Testing

@Suite struct CanvasPainterTests {
    /// A canvas with rows longer than its width, and bytes that must not be touched behind each.
    private final class PaddedCanvas {
        let memory: UnsafeMutablePointer<UInt8>
        let planes: PicturePlanes
        static let (width, height, stride) = (32, 24, 40)

        init() {
            let size = Self.stride * Self.height * 2
            memory = .allocate(capacity: size)
            memory.initialize(repeating: 0xa5, count: size)
            planes = PicturePlanes(
                y: memory, u: memory + Self.stride * Self.height, v: memory + Self.stride * Self.height * 3 / 2,
                yStride: Self.stride, uStride: Self.stride, vStride: Self.stride,
                width: Self.width, height: Self.height)
        }

        deinit { memory.deallocate() }

        /// Bytes of a row that lie behind the picture, of all planes.
        var isPaddingUntouched: Bool {
            (0..<2 * Self.height).allSatisfy { row in
                let width = row < Self.height ? Self.width : Self.width / 2
                return (width..<Self.stride).allSatisfy { memory[row * Self.stride + $0] == 0xa5 }
            }
        }
    }

    private static let canvas = canvasFormat(PaddedCanvas.width, PaddedCanvas.height)

    /// A plan whose picture has bars left and right, and the picture: flat, of luma 200 and chroma 60 and 70.
    private static func sample(
        _ transform: UprightTransform, width: Int = 16, height: Int = 16
    ) throws -> (Picture, GeometryPlan) {
        let source = VideoSampleFormat(packed: .i420, width: width, height: height)
        let plan = GeometryPlan(source: source, transform: transform, canvas: canvas, fit: .fit)
        let bytes = [200, 60, 70].enumerated().flatMap { plane, value in
            [UInt8](repeating: UInt8(value), count: source.planeBytes(plane))
        }
        return (try take(bytes, plan), plan)
    }

    @Test(arguments: UprightTransform.allCases)
    func barsSurroundThePicture(transform: UprightTransform) throws {
        let canvas = PaddedCanvas()
        var painter = CanvasPainter(canvas: Self.canvas, background: CanvasColor(y: 30, u: 90, v: 100))
        let (picture, plan) = try Self.sample(transform)
        try painter.paint(picture, plan: plan, onto: canvas.planes)
        #expect(plan.destination == PixelRect(x: 4, y: 0, width: 24, height: 24))
        let result = CanvasBytes(canvas.planes)
        for index in result.y.indices {
            #expect(result.y[index] == ((4..<28).contains(index % 32) ? 200 : 30))
        }
        for index in result.u.indices {
            let isInside = (2..<14).contains(index % 16)
            #expect(result.u[index] == (isInside ? 60 : 90))
            #expect(result.v[index] == (isInside ? 70 : 100))
        }
        #expect(canvas.isPaddingUntouched)
    }

    @Test func barsAreDrawnOnlyWhenSomethingChanged() throws {
        let (first, second) = (PaddedCanvas(), PaddedCanvas())
        defer { withExtendedLifetime((first, second)) {} }
        var painter = CanvasPainter(canvas: Self.canvas)
        let (picture, plan) = try Self.sample(.identity)
        func bar(_ planes: PicturePlanes) -> UInt8 { planes.y[0] }

        try painter.paint(picture, plan: plan, onto: first.planes)
        #expect(bar(first.planes) == 16)
        first.planes.y[0] = 99
        try painter.paint(picture, plan: plan, onto: first.planes)
        #expect(bar(first.planes) == 99, "the same place on the same canvas")
        try painter.paint(picture, plan: plan, onto: second.planes)
        #expect(bar(second.planes) == 16, "another canvas")

        let (wide, widePlan) = try Self.sample(.identity, width: 64, height: 16)
        try painter.paint(wide, plan: widePlan, onto: second.planes)
        #expect(CanvasBytes(second.planes).y[0..<32].allSatisfy { $0 == 16 }, "another place")
        #expect(CanvasBytes(second.planes).y[12 * 32] == 200)
    }

    @Test func anEmptyCanvasIsBlackInItsRange() {
        for (range, black) in [(ColorRange.video, UInt8(16)), (.full, 0)] {
            let canvas = PaddedCanvas()
            var painter = CanvasPainter(
                canvas: canvasFormat(32, 24, ColorDescription(matrix: .bt709, range: range)))
            painter.fill(canvas.planes)
            let result = CanvasBytes(canvas.planes)
            #expect(result.y.allSatisfy { $0 == black } && (result.u + result.v).allSatisfy { $0 == 128 })
            #expect(canvas.isPaddingUntouched)
        }
    }

    @Test func refusesOtherSizes() throws {
        let canvas = PaddedCanvas()
        defer { withExtendedLifetime(canvas) {} }
        var painter = CanvasPainter(canvas: Self.canvas)
        let (picture, plan) = try Self.sample(.identity)
        picture.reshape(width: 16, height: 16)
        #expect(throws: GeometryError.sizeMismatch(expectedWidth: 24, expectedHeight: 24, width: 16, height: 16)) {
            try painter.paint(picture, plan: plan, onto: canvas.planes)
        }
        var other = CanvasPainter(canvas: canvasFormat(64, 48))
        #expect(throws: GeometryError.sizeMismatch(expectedWidth: 64, expectedHeight: 48, width: 32, height: 24)) {
            try other.paint(picture, plan: plan, onto: canvas.planes)
        }
    }
}
