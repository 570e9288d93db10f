import FrameGeometry
import MediaCore
import SeededRandom
import Testing

@Suite struct BandTests {
    /// A source with gaps between planes and padding behind rows.
    private static func randomSource(using random: inout SplitMix64) -> VideoSampleFormat {
        let format = PixelFormat.allCases.randomElement(using: &random)!
        let (width, height) = (Int.random(in: 16...4096, using: &random), Int.random(in: 16...4096, using: &random))
        var source = VideoSampleFormat(packed: format, width: width, height: height)
        var end = 0
        for plane in 0..<format.planeCount {
            let padding = [0, 0, 1, 64, 5000, 70_000, 200_000].randomElement(using: &random)!
            let stride = format.plane(plane).rowBytes(pictureWidth: width) + padding
            source.setPlane(plane, PlaneLocation(offset: end + Int.random(in: 0...99, using: &random), stride: stride))
            end = source.plane(plane).offset + source.planeBytes(plane)
        }
        return source
    }

    @Test func bandsCoverWhatIsNeededOnce() {
        var random = SplitMix64(seed: 2)
        let room = FrameIntake(canvasFormat(32, 32)).bandBuffer.count
        for _ in 0..<400 {
            let source = Self.randomSource(using: &random)
            let plan = GeometryPlan(
                source: source, transform: UprightTransform.allCases.randomElement(using: &random)!,
                canvas: canvasFormat(
                    2 * Int.random(in: 8...2048, using: &random), 2 * Int.random(in: 8...2048, using: &random)),
                fit: FitMode.allCases.randomElement(using: &random)!)
            let comment = Comment(rawValue: "\(plan)")
            let bands = plan.bands
            var end = 0
            for band in bands {
                #expect(band.payloadOffset >= end && band.byteCount > 0, comment)
                #expect(band.byteCount <= room, comment)
                end = band.payloadOffset + band.byteCount
            }
            #expect(end <= source.minimumPayloadBytes, comment)

            for plane in 0..<source.pixelFormat.planeCount {
                let shape = source.pixelFormat.plane(plane)
                let ofPlane = bands.filter { $0.plane == plane }
                // Rows follow each other, and chroma pairs are not torn unless the stride leaves no choice.
                var row = 0
                for band in ofPlane {
                    #expect(band.firstRow == row, comment)
                    row += band.rowCount
                    #expect(band.rowCount % 2 == 0 || band == ofPlane.last || band.rowCount == 1, comment)
                    let first = plan.crop.y / shape.heightDivisor + band.firstRow
                    #expect(
                        band.payloadOffset == source.plane(plane).offset + first * source.plane(plane).stride
                            + plan.crop.x / shape.widthDivisor * shape.bytesPerElement, comment)
                    #expect(
                        band.byteCount == (band.rowCount - 1) * source.plane(plane).stride
                            + shape.rowBytes(pictureWidth: plan.crop.width), comment)
                }
                #expect(row == shape.rows(pictureHeight: plan.crop.height), comment)
            }
        }
    }

    @Test func theIntakeAsksForThePlansBands() throws {
        var source = VideoSampleFormat(packed: .nv12VideoRange, width: 64, height: 48)
        source.plane1.offset += 100
        let plan = GeometryPlan(source: source, transform: .identity, canvas: canvasFormat(32, 32), fit: .fill)
        let intake = FrameIntake(plan.canvas)
        try intake.begin(plan, into: picture(of: plan.canvas))
        var asked: [Band] = []
        while let band = intake.nextBand() {
            #expect(intake.nextBand() == band, "asking again changes nothing")
            asked.append(band)
            try intake.bandArrived()
        }
        #expect(asked == plan.bands)
        // 48x48 pixels from column 8 on: the first row that is read starts there, the last one ends at column 56.
        #expect(asked.first?.payloadOffset == 8)
        #expect(asked.last.map { $0.payloadOffset + $0.byteCount } == 64 * 48 + 100 + 64 * 24 - 8)
    }
}
