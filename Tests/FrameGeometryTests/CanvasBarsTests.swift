import Foundation
import FrameGeometry
import MediaCore
import Testing

@Suite struct CanvasBarsTests {
    private static let canvas = canvasFormat(32, 24)

    /// A plan whose frame has bars left and right, and its payload: flat, of luma 200 and chroma 60 and 70.
    private static func sample(
        _ transform: UprightTransform, width: Int = 16, height: Int = 16
    ) -> ([UInt8], GeometryPlan) {
        let source = VideoSampleFormat(packed: .i420, width: width, height: height)
        let plan = GeometryPlan(source: source, transform: transform, canvas: canvas, fit: .fit)
        let bytes = [200, 60, 70].enumerated().flatMap { plane, value in
            [UInt8](repeating: UInt8(value), count: source.planeBytes(plane))
        }
        return (bytes, plan)
    }

    @Test(arguments: UprightTransform.allCases)
    func barsSurroundThePicture(transform: UprightTransform) throws {
        let intake = FrameIntake(
            bars: CanvasBars(canvas: Self.canvas, background: CanvasColor(y: 30, u: 90, v: 100)))
        let (bytes, plan) = Self.sample(transform)
        let result = CanvasBytes(try take(bytes, plan, with: intake))
        #expect(plan.destination == PixelRect(x: 4, y: 0, width: 24, height: 24))
        for index in result.y.indices {
            #expect(result.y[index] == ((4..<28).contains(index % 32) ? 200 : 30))
        }
        for index in result.u.indices {
            let isInside = (2..<14).contains(index % 16)
            #expect(result.u[index] == (isInside ? 60 : 90))
            #expect(result.v[index] == (isInside ? 70 : 100))
        }
    }

    @Test func barsAreDrawnOnlyWhenSomethingChanged() throws {
        let (first, second) = (picture(of: Self.canvas), picture(of: Self.canvas))
        let intake = FrameIntake(Self.canvas)
        let (bytes, plan) = Self.sample(.identity)
        func bar(_ picture: Picture) -> UInt8 { withExtendedLifetime(picture) { picture.planes.y[0] } }

        _ = try take(bytes, plan, with: intake, into: first)
        #expect(bar(first) == 16)
        first.planes.y[0] = 99
        _ = try take(bytes, plan, with: intake, into: first)
        #expect(bar(first) == 99, "the same place in the same picture")
        _ = try take(bytes, plan, with: intake, into: second)
        #expect(bar(second) == 16, "another picture")

        let (wide, widePlan) = Self.sample(.identity, width: 64, height: 16)
        let result = CanvasBytes(try take(wide, widePlan, with: intake, into: second))
        #expect(result.y[0..<32].allSatisfy { $0 == 16 }, "another place")
        #expect(result.y[12 * 32] == 200)
    }

    /// A picture that is new has no bars, even where it lies in the memory of one that had them.
    @Test func newPicturesAreNotTakenForOldOnes() throws {
        let intake = FrameIntake(Self.canvas)
        let (bytes, plan) = Self.sample(.identity)
        var places: Set<UnsafeMutablePointer<UInt8>> = []
        var isReused = false
        for _ in 0..<20 {
            let picture = Picture(width: 32, height: 24)
            if !places.insert(picture.planes.y).inserted { isReused = true }
            picture.planes.y[0] = 99
            _ = try take(bytes, plan, with: intake, into: picture)
            #expect(picture.planes.y[0] == 16)
        }
        // AddressSanitizer gives no memory a second time.
        let isSanitized = ProcessInfo.processInfo.environment["UPCAST_SANITIZER"] != nil
        #expect(isReused || isSanitized, "the test needs memory that is used again")
    }

    @Test func anEmptyCanvasIsBlackInItsRange() {
        for (range, black) in [(ColorRange.video, UInt8(16)), (.full, 0)] {
            let picture = picture(of: Self.canvas)
            var bars = CanvasBars(canvas: canvasFormat(32, 24, ColorDescription(matrix: .bt709, range: range)))
            bars.fill(picture)
            let result = CanvasBytes(picture)
            #expect(result.y.allSatisfy { $0 == black } && (result.u + result.v).allSatisfy { $0 == 128 })
        }
    }
}
