import FrameGeometry
import Glibc
import MediaCore
import SeededRandom
import Testing

@Suite struct FrameIntakeTests {
    private static let canvas = canvasFormat(80, 64)

    private static func plan(
        _ source: VideoSampleFormat, canvas: CanvasFormat = canvas, _ fit: FitMode = .fit
    ) -> GeometryPlan {
        GeometryPlan(source: source, transform: .identity, canvas: canvas, fit: fit)
    }

    private static func bytes(_ picture: Picture) -> CanvasBytes {
        withExtendedLifetime(picture) { CanvasBytes(picture.planes) }
    }

    /// Padding behind rows changes how many rows a band has: many, a few, two, and one at a time.
    @Test(arguments: PixelFormat.allCases, FrameScaler.allCases)
    func bandsOfAnySizeMakeTheSamePicture(format: PixelFormat, scaler: FrameScaler) throws {
        for fit in FitMode.allCases { try bandsOfAnySize(101, 75, format, Self.canvas, fit, scaler) }
        guard [.i420, .bgra, .nv12VideoRange].contains(format) else { return }
        // Enlarged, by far made smaller, and in whole groups of rows.
        for (width, height, canvas) in [
            (40, 36, Self.canvas), (60, 330, canvasFormat(16, 18)), (64, 64, canvasFormat(32, 32)),
            (64, 64, canvasFormat(16, 16)), (64, 64, canvasFormat(48, 48)),
        ] {
            try bandsOfAnySize(width, height, format, canvas, .stretch, scaler)
        }
    }

    private func bandsOfAnySize(
        _ width: Int, _ height: Int, _ format: PixelFormat, _ canvas: CanvasFormat, _ fit: FitMode,
        _ scaler: FrameScaler
    ) throws {
        let packed = VideoSampleFormat(packed: format, width: width, height: height)
        func plan(_ source: VideoSampleFormat) -> GeometryPlan { Self.plan(source, canvas: canvas, fit) }
        let expected = Self.bytes(
            try take(payload(of: asymmetricScene, as: packed), plan(packed), scaler: scaler))
        for (padding, rowsPerBand) in [(37, 76), (9_000, 14), (40_000, 4), (70_000, 2), (140_000, 1)] {
            var source = packed
            var end = 5
            for plane in 0..<format.planeCount {
                source.setPlane(plane, PlaneLocation(offset: end, stride: packed.plane(plane).stride + padding))
                end += source.planeBytes(plane) + 11
            }
            if width == 101 {
                let greatest = plan(source).bands.map(\.rowCount).max()
                #expect(greatest == min(rowsPerBand, plan(source).crop.height))
            }
            let bytes = payload(of: asymmetricScene, as: source)
            let result = Self.bytes(try take(bytes, plan(source), scaler: scaler))
            #expect(result == expected, "padding \(padding)")
            let inPlace = Self.bytes(try takeInPlace(bytes, plan(source), scaler: scaler))
            #expect(inPlace == expected, "in place, padding \(padding)")
        }
    }

    @Test(arguments: FrameScaler.allCases)
    func aFrameThatBreaksOffDoesNotShowInTheNext(scaler: FrameScaler) throws {
        let source = VideoSampleFormat(packed: .nv12VideoRange, width: 400, height: 700)
        let plan = Self.plan(source)
        let full = payload(of: asymmetricScene, as: source)
        let expected = Self.bytes(try take(full, plan, scaler: scaler))

        let intake = FrameIntake(plan.canvas, scaler)
        let picture = picture(of: plan.canvas)
        for isCancelled in [true, false] {
            try intake.begin(plan, into: picture)
            try intake.bandArrived()
            if isCancelled {
                intake.cancel()
                #expect(intake.nextBand() == nil)
            }
            try intake.begin(plan, into: picture)
            try finish(full, with: intake)
            #expect(Self.bytes(picture) == expected)
        }
    }

    /// Format and size change from one sample to the next and back.
    @Test(arguments: FrameScaler.allCases)
    func oneIntakeTakesAnyOrderOfFormats(scaler: FrameScaler) throws {
        let intake = FrameIntake(Self.canvas, scaler)
        let picture = picture(of: Self.canvas)
        var random = SplitMix64(seed: 4)
        for _ in 0..<60 {
            let format = PixelFormat.allCases.randomElement(using: &random)!
            let source = VideoSampleFormat(
                packed: format, width: [16, 33, 80, 100].randomElement(using: &random)!,
                height: [17, 24, 64].randomElement(using: &random)!)
            let plan = GeometryPlan(
                source: source, transform: UprightTransform.allCases.randomElement(using: &random)!,
                canvas: Self.canvas, fit: FitMode.allCases.randomElement(using: &random)!)
            let bytes = payload(of: asymmetricScene, as: source)
            let result = Self.bytes(try take(bytes, plan, with: intake, into: picture))
            #expect(result == Self.bytes(try take(bytes, plan, scaler: scaler)), "\(plan)")
        }
    }

    /// Every extreme: a flat picture stays flat, and the bars around it stay whole.
    @Test(arguments: [
        (4096, 4096, 16, 16), (4096, 4096, 64, 64), (4096, 4096, 4096, 64), (4096, 4096, 64, 4096),
        (4096, 16, 16, 4096), (16, 4096, 4096, 16), (4095, 4095, 18, 64), (4095, 17, 16, 16),
        (16, 16, 4096, 4096), (17, 4093, 16, 4096),
        (4096, 16, 64, 64), (16, 4096, 64, 64), (1920, 1080, 1280, 720), (1170, 2532, 720, 1280),
    ])
    func extremesStayFlat(width: Int, height: Int, canvasWidth: Int, canvasHeight: Int) throws {
        for scaler in FrameScaler.allCases {
            try staysFlat(width, height, canvasFormat(canvasWidth, canvasHeight), scaler)
        }
    }

    private func staysFlat(_ width: Int, _ height: Int, _ canvas: CanvasFormat, _ scaler: FrameScaler) throws {
        let (canvasWidth, canvasHeight) = (canvas.width, canvas.height)
        let intake = FrameIntake(canvas, scaler)
        let picture = picture(of: canvas)
        for (format, fit, transform) in [
            (PixelFormat.nv12VideoRange, FitMode.stretch, UprightTransform.identity), (.i444, .fill, .transpose),
            (.i420, .fit, .rotate180), (.yuy2, .stretch, .rotate90Clockwise),
        ] {
            let source = VideoSampleFormat(packed: format, width: width, height: height)
            let plan = GeometryPlan(source: source, transform: transform, canvas: canvas, fit: fit)
            try intake.begin(plan, into: picture)
            while let band = intake.nextBand() {
                intake.bandBuffer.initializeMemory(as: UInt8.self, repeating: band.plane == 0 ? 90 : 170)
                try intake.bandArrived()
            }
            defer { withExtendedLifetime(picture) {} }
            let planes = picture.planes
            /// Inside the frame's place one value, around it another.
            func isFlat(
                _ start: UnsafeMutablePointer<UInt8>, _ stride: Int, _ divisor: Int, _ value: UInt8, _ bar: UInt8
            ) -> Bool {
                let rect = plan.destination
                let (left, width) = (rect.x / divisor, rect.width / divisor)
                let right = canvasWidth / divisor - left - width
                let inside = [UInt8](repeating: bar, count: left) + [UInt8](repeating: value, count: width)
                    + [UInt8](repeating: bar, count: right)
                let outside = [UInt8](repeating: bar, count: canvasWidth / divisor)
                let rows = rect.y / divisor..<(rect.y + rect.height) / divisor
                return (0..<canvasHeight / divisor).allSatisfy {
                    memcmp(start + $0 * stride, rows.contains($0) ? inside : outside, inside.count) == 0
                }
            }
            // YUY2's one plane holds 90 in all places.
            let chroma: UInt8 = format == .yuy2 ? 90 : 170
            #expect(isFlat(planes.y, planes.yStride, 1, 90, 16), "\(plan)")
            #expect(isFlat(planes.u, planes.uStride, 2, chroma, 128), "\(plan)")
            #expect(isFlat(planes.v, planes.vStride, 2, chroma, 128), "\(plan)")
        }
    }

    /// A ratio that is thinned out first still shows the whole picture in its place.
    @Test(arguments: FrameScaler.allCases)
    func extremeShrinkingKeepsThePicture(scaler: FrameScaler) throws {
        let source = VideoSampleFormat(packed: .gray, width: 4096, height: 2048)
        let canvas = canvasFormat(32, 16)
        let plan = GeometryPlan(source: source, transform: .identity, canvas: canvas, fit: .stretch)
        // A ramp to the right in the upper half, to the left in the lower one.
        let right = (0..<4096).map { UInt8($0 / 16) }
        let picture = try take((0..<2048).flatMap { $0 < 1024 ? right : right.reversed() }, plan, scaler: scaler)
        defer { withExtendedLifetime(picture) {} }
        let planes = picture.planes
        for column in 0..<32 {
            let expected = Double(column) * 8 + 3.5
            #expect(abs(Double(planes.y[column]) - expected) < 1.5)
            #expect(abs(Double(planes.y[15 * planes.yStride + column]) - (255 - expected)) < 1.5)
        }
    }

    /// The same where only every fourth row is used: which one does not depend on where a band starts.
    @Test(arguments: FrameScaler.allCases)
    func extremeShrinkingInBandsOfAnySize(scaler: FrameScaler) throws {
        let canvas = canvasFormat(16, 16)
        let pictures = try [16, 60_000, 140_000].map { stride in
            let source = VideoSampleFormat(
                width: 16, height: 4090, pixelFormat: .gray, color: .hd,
                plane0: PlaneLocation(offset: 0, stride: stride))
            let plan = GeometryPlan(source: source, transform: .identity, canvas: canvas, fit: .stretch)
            let intake = FrameIntake(canvas, scaler)
            let picture = picture(of: canvas)
            try intake.begin(plan, into: picture)
            while let band = intake.nextBand() {
                for row in 0..<band.rowCount {
                    // Three of four rows are noise to the fourth.
                    let value = UInt8(truncatingIfNeeded: (band.firstRow + row) * 89)
                    let start = intake.bandBuffer.baseAddress! + row * stride
                    start.initializeMemory(as: UInt8.self, repeating: value, count: 16)
                }
                try intake.bandArrived()
            }
            return Self.bytes(picture)
        }
        #expect(pictures[1] == pictures[0])
        #expect(pictures[2] == pictures[0])
    }

    @Test func refusesWhatDoesNotFit() {
        let intake = FrameIntake(Self.canvas)
        let good = VideoSampleFormat(packed: .nv12VideoRange, width: 64, height: 48)
        let picture = picture(of: Self.canvas)
        func error(_ change: (inout VideoSampleFormat) -> Void) -> GeometryError? {
            var source = good
            change(&source)
            return #expect(throws: GeometryError.self) { try intake.begin(Self.plan(source), into: picture) }
        }
        #expect(
            error { $0.plane0.stride = 63 }
                == .badPlaneLayout(plane: 0, offset: 0, stride: 63, leastOffset: 0, leastStride: 64))
        #expect(
            error { $0.plane1.offset = 64 * 48 - 1 }
                == .badPlaneLayout(plane: 1, offset: 3071, stride: 64, leastOffset: 3072, leastStride: 64))
        #expect(error { $0.plane0.offset = -1 } != nil)
        #expect(error { $0.plane1.stride = .max } != nil)
        #expect(error { $0.plane1.offset = .max } != nil)
        #expect(error { $0.plane1.stride = 0 } != nil)
        #expect(intake.nextBand() == nil)

        let small = Picture(width: 64, height: 80)
        #expect(throws: GeometryError.sizeMismatch(expectedWidth: 80, expectedHeight: 64, width: 64, height: 80)) {
            try intake.begin(Self.plan(good), into: small)
        }
        #expect(throws: GeometryError.noBandAwaited) { try intake.bandArrived() }
    }

    @Test(arguments: FrameScaler.allCases)
    func memoryStaysInItsPlace(scaler: FrameScaler) {
        let canvas = canvasFormat(1280, 720)
        let usual = FrameIntake.memoryBytes(
            canvas: canvas, scaler: .always(scaler), greatestSourceWidth: 1920, greatestSourceHeight: 1080)
        #expect(usual < 1_300_000)
        let greatest = FrameIntake.memoryBytes(canvas: canvas, scaler: .always(scaler))
        #expect(greatest < 2_000_000)
        #expect(greatest <= FrameIntake.memoryBytes(canvas: canvas, scaler: .always(.native)))
        #expect(greatest <= FrameIntake.memoryBytes(canvas: canvas, scaler: .auto))
    }
}
