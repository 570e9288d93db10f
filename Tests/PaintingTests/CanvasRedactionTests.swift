import FrameGeometry
import MediaCore
import Painting
import Testing

/// Promise: a region that is named when its picture is on the canvas already is gone from there, with what the
/// capturing side's filter and the scaler have carried out of it.
@Suite struct CanvasRedactionTests {
    struct Size: CustomTestStringConvertible, Sendable {
        let width, height, canvasWidth, canvasHeight: Int
        var testDescription: String { "\(width)x\(height) to \(canvasWidth)x\(canvasHeight)" }
    }

    /// Grey, or with the worst that a client may send: luma of the region, and every chroma sample that has a part in
    /// the two pixels around it, of another colour altogether.
    private static func payload(_ source: VideoSampleFormat, around region: SecureRegions.Rectangle?) -> [UInt8] {
        var bytes = [UInt8](repeating: 128, count: source.planeBytes(0) + source.planeBytes(1) + source.planeBytes(2))
        guard let region else { return bytes }
        let (left, right) = (Int(region.left), Int(region.right))
        let (top, bottom) = (Int(region.top), Int(region.bottom))
        for row in top..<bottom {
            for column in left..<right { bytes[source.plane(0).offset + row * source.plane(0).stride + column] = 235 }
        }
        for plane in 1...2 {
            let shape = source.pixelFormat.plane(plane)
            let (across, down) = (shape.widthDivisor, shape.heightDivisor)
            let columns = max(0, left - 2) / across...(min(source.width, right + 2) - 1) / across
            let rows = max(0, top - 2) / down...(min(source.height, bottom + 2) - 1) / down
            for row in rows {
                let start = source.plane(plane).offset + row * source.plane(plane).stride
                for column in columns { bytes[start + column] = 240 }
            }
        }
        return bytes
    }

    @Test(
        arguments: [
            Size(width: 320, height: 180, canvasWidth: 1280, canvasHeight: 720),
            Size(width: 64, height: 36, canvasWidth: 640, canvasHeight: 360),
            Size(width: 160, height: 90, canvasWidth: 160, canvasHeight: 90),
            Size(width: 101, height: 75, canvasWidth: 160, canvasHeight: 128),
            Size(width: 320, height: 180, canvasWidth: 192, canvasHeight: 108),
            // As far as bicubic goes, for 4:2:0 and for the others; and an odd size.
            Size(width: 480, height: 270, canvasWidth: 160, canvasHeight: 90),
            Size(width: 240, height: 135, canvasWidth: 160, canvasHeight: 90),
            Size(width: 269, height: 149, canvasWidth: 90, canvasHeight: 50),
        ], [UprightTransform.identity, .rotate180, .rotate90Clockwise, .transverse])
    func noFringeIsLeft(size: Size, transform: UprightTransform) throws {
        for scaler in [FrameScaler.native, .libyuv] {
            for format in [PixelFormat.i420, .i422, .i444] { try noFringeIsLeft(size, transform, scaler, format) }
        }
    }

    private func noFringeIsLeft(
        _ size: Size, _ transform: UprightTransform, _ scaler: FrameScaler, _ format: PixelFormat
    ) throws {
        let source = VideoSampleFormat(packed: format, width: size.width, height: size.height)
        for fit in [FitMode.fit, .fill] {
            let plan = GeometryPlan(
                source: source, transform: transform, canvas: canvasFormat(size.canvasWidth, size.canvasHeight),
                fit: fit)
            for place in [(20, 12, 10, 8), (21, 13, 9, 7), (22, 13, 7, 8), (0, 0, 5, 5)] {
                var regions = SecureRegions()
                regions.hide(
                    x: place.0, y: place.1, width: place.2, height: place.3, pictureWidth: size.width,
                    pictureHeight: size.height)
                func painted(_ region: SecureRegions.Rectangle?) throws -> CanvasBytes {
                    let intake = FrameIntake(bars: CanvasBars(canvas: plan.canvas), scaler: .always(scaler))
                    let picture = Picture(width: plan.canvas.width, height: plan.canvas.height)
                    try take(Self.payload(source, around: region), plan, with: intake, into: picture)
                    CanvasRedaction.paint(regions, of: plan, on: picture.planes, .black(.video))
                    return CanvasBytes(picture)
                }
                let (marked, clean) = (try painted(regions[0]), try painted(nil))
                let off = [(marked.y, clean.y), (marked.u, clean.u), (marked.v, clean.v)].map { marked, clean in
                    zip(marked, clean).count { $0 != $1 }
                }
                #expect(off == [0, 0, 0], "\(place), \(plan)")
            }
        }
    }
}
