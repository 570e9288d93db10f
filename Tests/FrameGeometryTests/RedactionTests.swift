import FrameGeometry
import MediaCore
import SeededRandom
import Testing

/// Promise: nothing of what lies in a secure region is in the picture, and the picture elsewhere is as it was.
@Suite struct RedactionTests {
    struct Size: Sendable, CustomTestStringConvertible {
        let width, height, canvasWidth, canvasHeight: Int
        var testDescription: String { "\(width)x\(height) to \(canvasWidth)x\(canvasHeight)" }
    }

    /// Odd sizes, smaller and larger than the canvas, and of its size.
    private static let sizes = [
        Size(width: 101, height: 75, canvasWidth: 48, canvasHeight: 64),
        Size(width: 51, height: 67, canvasWidth: 160, canvasHeight: 128),
        Size(width: 64, height: 64, canvasWidth: 64, canvasHeight: 64),
    ]

    /// Some rectangles in the picture and some that reach out of it, lie outside, or are empty.
    private static func rectangles(
        _ width: Int, _ height: Int, _ random: inout SplitMix64
    ) -> [(x: Int, y: Int, width: Int, height: Int)] {
        var all: [(x: Int, y: Int, width: Int, height: Int)] = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            (
                Int.random(in: -10...width, using: &random), Int.random(in: -10...height, using: &random),
                Int.random(in: 1...width / 3, using: &random), Int.random(in: 1...height / 3, using: &random)
            )
        }
        all += [(5, 5, 0, 20), (-30, 3, 10, 10), (width, 0, 5, 5), (0, -1_000_000, 3, 2_000_000_000)]
        return all
    }

    private static func regions(
        _ rectangles: [(x: Int, y: Int, width: Int, height: Int)], _ source: VideoSampleFormat
    ) -> SecureRegions {
        var regions = SecureRegions()
        for rectangle in rectangles {
            regions.hide(
                x: rectangle.x, y: rectangle.y, width: rectangle.width, height: rectangle.height,
                pictureWidth: source.width, pictureHeight: source.height)
        }
        return regions
    }

    /// The payload with other bytes in every sample that has a part in one of the rectangles.
    private static func scrambled(
        _ payload: [UInt8], _ source: VideoSampleFormat, _ regions: SecureRegions, _ random: inout SplitMix64
    ) -> [UInt8] {
        var bytes = payload
        for plane in 0..<source.pixelFormat.planeCount {
            let shape = source.pixelFormat.plane(plane)
            for index in 0..<regions.count {
                let rectangle = regions[index]
                let across = Int(rectangle.left) / shape.widthDivisor...(Int(rectangle.right) - 1) / shape.widthDivisor
                let down = Int(rectangle.top) / shape.heightDivisor...(Int(rectangle.bottom) - 1) / shape.heightDivisor
                for row in down {
                    let start = source.plane(plane).offset + row * source.plane(plane).stride
                    let (first, end) = (across.lowerBound, across.upperBound + 1)
                    for at in first * shape.bytesPerElement..<end * shape.bytesPerElement {
                        bytes[start + at] = UInt8.random(in: 0...255, using: &random)
                    }
                }
            }
        }
        return bytes
    }

    private static func bytes(_ picture: Picture) -> CanvasBytes {
        withExtendedLifetime(picture) { CanvasBytes(picture.planes) }
    }

    /// What is in a region makes no difference to a single byte of the picture, read from the socket or from the
    /// client's memory.
    @Test(arguments: PixelFormat.allCases, UprightTransform.allCases)
    func nothingOfARegionShows(format: PixelFormat, transform: UprightTransform) throws {
        var random = SplitMix64(seed: 6)
        for size in Self.sizes {
            for fit in FitMode.allCases {
                let source = VideoSampleFormat(packed: format, width: size.width, height: size.height)
                let plan = GeometryPlan(
                    source: source, transform: transform, canvas: canvasFormat(size.canvasWidth, size.canvasHeight),
                    fit: fit)
                let regions = Self.regions(Self.rectangles(size.width, size.height, &random), source)
                let plain = payload(of: asymmetricScene, as: source)
                let marked = Self.scrambled(plain, source, regions, &random)
                let expected = Self.bytes(try take(plain, plan, hiding: regions))
                #expect(Self.bytes(try take(marked, plan, hiding: regions)) == expected, "\(plan)")
                #expect(Self.bytes(try takeInPlace(marked, plan, hiding: regions)) == expected, "in place, \(plan)")
            }
        }
    }

    /// Rows that are gathered because of their padding, and bands of a few rows, are painted over in the same way.
    @Test(arguments: PixelFormat.allCases) func paddingMakesNoDifference(format: PixelFormat) throws {
        var random = SplitMix64(seed: 7)
        let packed = VideoSampleFormat(packed: format, width: 101, height: 75)
        let regions = Self.regions([(13, 9, 40, 31), (70, 60, 40, 40)], packed)
        let canvas = canvasFormat(80, 64)
        func plan(_ source: VideoSampleFormat) -> GeometryPlan {
            GeometryPlan(source: source, transform: .identity, canvas: canvas, fit: .fill)
        }
        let expected = Self.bytes(
            try take(payload(of: asymmetricScene, as: packed), plan(packed), hiding: regions))
        for padding in [37, 9_000, 70_000, 140_000] {
            var source = packed
            var end = 5
            for plane in 0..<format.planeCount {
                source.setPlane(plane, PlaneLocation(offset: end, stride: packed.plane(plane).stride + padding))
                end += source.planeBytes(plane) + 11
            }
            let marked = Self.scrambled(payload(of: asymmetricScene, as: source), source, regions, &random)
            #expect(Self.bytes(try take(marked, plan(source), hiding: regions)) == expected, "padding \(padding)")
            #expect(Self.bytes(try takeInPlace(marked, plan(source), hiding: regions)) == expected)
        }
    }

    /// Where the kernel does not reach a region, the picture is to the bit what it is without regions; where it reaches
    /// nothing else, it is black.
    @Test(arguments: PixelFormat.allCases, FrameScaler.both)
    func theRestIsAsItWas(format: PixelFormat, scaler: FrameScaler) throws {
        for transform in UprightTransform.allCases { try theRestIsAsItWas(format, transform, scaler) }
    }

    private func theRestIsAsItWas(_ format: PixelFormat, _ transform: UprightTransform, _ scaler: FrameScaler) throws {
        for size in Self.sizes {
            for fit in FitMode.allCases {
                var source = VideoSampleFormat(packed: format, width: size.width, height: size.height)
                var color = ColorDescription.hd
                if case .rgb = format.layout {
                    source.color.range = .full
                    // RGB becomes BT.601 first: with another matrix the edge's chroma has a part in luma.
                    color.matrix = .bt601
                }
                let plan = GeometryPlan(
                    source: source, transform: transform,
                    canvas: canvasFormat(size.canvasWidth, size.canvasHeight, color), fit: fit)
                let regions = Self.regions([(size.width / 3 + 1, size.height / 3 + 1, 15, 13)], source)
                let scene = payload(of: asymmetricScene, as: source)
                let hidden = try take(scene, plan, hiding: regions, scaler: scaler)
                let shown = try take(scene, plan, scaler: scaler)
                defer { withExtendedLifetime((hidden, shown)) {} }
                var (same, black) = (0, 0)
                for row in 0..<size.canvasHeight {
                    for column in 0..<size.canvasWidth {
                        func luma(_ picture: Picture) -> UInt8 {
                            picture.planes.y[row * picture.planes.yStride + column]
                        }
                        switch Self.part(of: regions[0], inColumn: column, row: row, plan) {
                        case .none:
                            let (luma, before) = (luma(hidden), luma(shown))
                            // As an expectation, each pixel would cost a comment.
                            if luma != before { Issue.record("\(luma), not \(before) at \(column),\(row) of \(plan)") }
                            same += 1
                        case .all:
                            let luma = luma(hidden)
                            if luma != 16 { Issue.record("\(luma), not 16 at \(column),\(row) of \(plan)") }
                            black += 1
                        case .some: break
                        }
                    }
                }
                // A region of 15x13, with its seam, is some 5 % of the smallest picture.
                #expect(same > size.canvasWidth * size.canvasHeight * 7 / 10, "\(plan)")
                #expect(black > 10, "\(plan)")
            }
        }
    }

    private enum Part { case none, some, all }

    /// The part that a region, with its seam, has in a pixel of the canvas: two pixels of the coarser grid around.
    private static func part(
        of region: SecureRegions.Rectangle, inColumn column: Int, row: Int, _ plan: GeometryPlan
    ) -> Part {
        let (crop, destination) = (plan.crop, plan.destination)
        let (x, y) = (column - destination.x, row - destination.y)
        guard (0..<destination.width).contains(x), (0..<destination.height).contains(y) else { return .none }
        let point = ReferenceGeometry.storedPoint(
            (Double(x) + 0.5) / Double(destination.width), (Double(y) + 0.5) / Double(destination.height),
            plan.transform)
        let isTurned = plan.transform.swapsAxes
        let stored = isTurned ? (destination.height, destination.width) : (destination.width, destination.height)
        func part(_ share: Double, _ origin: Int, _ from: Int, _ to: Int, _ edges: (UInt16, UInt16)) -> Part {
            let centre = Double(origin) + share * Double(from)
            let reach = 2 * max(1, Double(from) / Double(to)) + 0.5
            let (low, high) = (Double((Int(edges.0) - 2) & ~1), Double((Int(edges.1) + 3) & ~1))
            if centre + reach <= low || centre - reach >= high { return .none }
            return centre - reach >= low && centre + reach <= high ? .all : .some
        }
        switch (
            part(point.x, crop.x, crop.width, stored.0, (region.left, region.right)),
            part(point.y, crop.y, crop.height, stored.1, (region.top, region.bottom))
        ) {
        case (.none, _), (_, .none): return .none
        case (.all, .all): return .all
        default: return .some
        }
    }

    /// Protected content: only the bars around it are not the region's colour, and they are black, too.
    @Test(arguments: PixelFormat.allCases) func allOfIt(format: PixelFormat) throws {
        let source = VideoSampleFormat(packed: format, width: 101, height: 75)
        var regions = SecureRegions()
        regions.coversAll = true
        let plan = GeometryPlan(
            source: source, transform: .transpose, canvas: canvasFormat(80, 64), fit: .fit)
        let planes = Self.bytes(try take(payload(of: asymmetricScene, as: source), plan, hiding: regions))
        let black = Self.bytes(
            try take(payload(of: { _, _ in RGB(red: 0, green: 0, blue: 0) }, as: source), plan))
        #expect(planes == black)
    }

    /// The colour is that of the configuration, whatever a source's numbers mean.
    @Test(arguments: PixelFormat.allCases) func theColour(format: PixelFormat) throws {
        let source = VideoSampleFormat(packed: format, width: 64, height: 64)
        var regions = SecureRegions()
        regions.coversAll = true
        let canvas = canvasFormat(64, 64)
        let plan = GeometryPlan(source: source, transform: .identity, canvas: canvas, fit: .fit)
        let intake = FrameIntake(bars: CanvasBars(canvas: canvas), secureColor: (200, 60, 20))
        let planes = Self.bytes(
            try take(payload(of: asymmetricScene, as: source), plan, with: intake, hiding: regions))
        let color = YCbCr(RGB(red: 200 / 255, green: 60 / 255, blue: 20 / 255), as: .hd)
        #expect(abs(Double(planes.y[2000]) - color.y) <= 2)
        guard format != .gray else { return }
        #expect(abs(Double(planes.u[500]) - color.cb) <= 2 && abs(Double(planes.v[500]) - color.cr) <= 2)
    }

    /// One more than there is room for hides everything: what is not known to be harmless is not shown.
    @Test func tooManyHideEverything() {
        var regions = SecureRegions()
        for index in 0..<SecureRegions.capacity {
            regions.hide(x: index, y: 0, width: 1, height: 1, pictureWidth: 200, pictureHeight: 100)
            #expect(!regions.coversAll)
        }
        regions.hide(x: 0, y: 50, width: 1, height: 1, pictureWidth: 200, pictureHeight: 100)
        #expect(regions.coversAll && regions.count == SecureRegions.capacity)
    }
}
