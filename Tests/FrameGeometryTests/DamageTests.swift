import MediaCore
import SeededRandom
import Testing

@testable import FrameGeometry

/// Where only the rows of a sample are converted that have changed, the canvas is what it would be if all were.
@Suite struct DamageTests {
    /// Any format, layout, size, turn, fit and colour.
    private static func randomPlan(using random: inout SplitMix64) -> GeometryPlan {
        let format = PixelFormat.allCases.randomElement(using: &random)!
        func side(_ most: Int) -> Int { Int.random(in: 16...most, using: &random) }
        let (width, height) = (side(160), side([40, 300, 500].randomElement(using: &random)!))
        let color = ColorDescription(
            matrix: Bool.random(using: &random) ? .bt709 : .bt601, range: Bool.random(using: &random) ? .video : .full)
        var source = VideoSampleFormat(packed: format, width: width, height: height, color: color)
        var end = 0
        for plane in 0..<format.planeCount {
            let padding = [0, 0, 1, 64].randomElement(using: &random)!
            source.setPlane(
                plane,
                PlaneLocation(
                    offset: end + Int.random(in: 0...9, using: &random),
                    stride: format.plane(plane).rowBytes(pictureWidth: width) + padding))
            end = source.plane(plane).offset + source.planeBytes(plane)
        }
        // Also one that needs no scaling, or that of a single direction.
        let canvas: (Int, Int) =
            switch Int.random(in: 0..<4, using: &random) {
            case 0: ((width + 1) & ~1, (height + 1) & ~1)
            case 1: ((height + 1) & ~1, (width + 1) & ~1)
            case 2: ((width + 1) & ~1, 2 * ((height + 1) & ~1))
            default: (side(300) & ~1, side(500) & ~1)
            }
        return GeometryPlan(
            source: source, transform: UprightTransform.allCases.randomElement(using: &random)!,
            canvas: canvasFormat(canvas.0, canvas.1), fit: FitMode.allCases.randomElement(using: &random)!)
    }

    /// With the 64 bytes after them that a band in the caller's memory needs.
    private static func randomBytes(_ count: Int, using random: inout SplitMix64) -> [UInt8] {
        var words: [UInt64] = []
        for _ in 0..<(count + 64) / 8 + 1 { words.append(random.next()) }
        return words.withUnsafeBytes { Array($0.prefix(count + 64)) }
    }

    /// Changes the pixels of a rectangle: in each plane the elements that stand for any of them.
    private static func change(
        _ payload: inout [UInt8], _ format: VideoSampleFormat, _ rectangle: PictureDamage.Rectangle,
        using random: inout SplitMix64
    ) {
        for plane in 0..<format.pixelFormat.planeCount {
            let shape = format.pixelFormat.plane(plane)
            let rows = rectangle.rows.lowerBound / shape.heightDivisor...(rectangle.rows.upperBound - 1)
                / shape.heightDivisor
            let (left, right) = (Int(rectangle.x), Int(rectangle.x) + Int(rectangle.width) - 1)
            for row in rows {
                let start = format.plane(plane).offset + row * format.plane(plane).stride
                for element in left / shape.widthDivisor...right / shape.widthDivisor {
                    for byte in 0..<shape.bytesPerElement {
                        let index = start + element * shape.bytesPerElement + byte
                        payload[index] = UInt8(truncatingIfNeeded: random.next())
                    }
                }
            }
        }
    }

    private static func randomDamage(_ format: VideoSampleFormat, using random: inout SplitMix64) -> PictureDamage {
        var damage = PictureDamage()
        for _ in 0..<Int.random(in: 1...PictureDamage.capacity, using: &random) {
            let x = Int.random(in: 0..<format.width, using: &random)
            let y = Int.random(in: 0..<format.height, using: &random)
            let tall = Bool.random(using: &random) ? 3 : format.height
            let (width, height) = (
                Int.random(in: 1...(format.width - x), using: &random),
                Int.random(in: 1...min(tall, format.height - y), using: &random)
            )
            _ = damage.add(.init(x: UInt16(x), y: UInt16(y), width: UInt16(width), height: UInt16(height)))
            if Int.random(in: 0..<3, using: &random) == 0 { break }
        }
        return damage
    }

    @Test(arguments: 0..<24) func theCanvasIsThatOfAWholeConversion(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var parts = 0
        for _ in 0..<6 {
            let plan = Self.randomPlan(using: &random)
            let comment = Comment(rawValue: "seed \(seed): \(plan)")
            var payload = Self.randomBytes(plan.source.minimumPayloadBytes, using: &random)
            var regions = SecureRegions()
            if Bool.random(using: &random) {
                regions.hide(
                    x: 3, y: plan.source.height / 3, width: 9, height: 20, pictureWidth: plan.source.width,
                    pictureHeight: plan.source.height)
            }
            let intake = FrameIntake(plan.canvas)
            var shown = try take(payload, plan, with: intake, hiding: regions)
            let needed = plan.bands.reduce(0) { $0 + $1.byteCount }
            for step in 0..<3 {
                let damage = Self.randomDamage(plan.source, using: &random)
                for index in 0..<damage.count { Self.change(&payload, plan.source, damage[index], using: &random) }
                let next = picture(of: plan.canvas)
                next.copySamples(of: shown)
                try intake.begin(plan, into: next, hiding: regions, changing: damage)
                var (asked, end) = (0, 0)
                // In place and out of the buffer in turns; behind what is read there are other bytes.
                try (payload + [UInt8](repeating: 0xee, count: 64)).withUnsafeBytes { bytes in
                    while let band = intake.nextBand() {
                        #expect(band.payloadOffset >= end && band.byteCount > 0, comment)
                        end = band.payloadOffset + band.byteCount
                        asked += band.byteCount
                        if step % 2 == 0 {
                            try intake.bandArrived(at: bytes.baseAddress! + band.payloadOffset)
                        } else {
                            intake.bandBuffer.copyMemory(
                                from: UnsafeRawBufferPointer(rebasing: bytes[band.payloadOffset..<end]))
                            try intake.bandArrived()
                        }
                    }
                }
                #expect(asked <= needed, comment)
                if asked < needed { parts += 1 }
                let whole = try take(payload, plan, hiding: regions)
                #expect(next.hasSameSamples(as: whole), comment)
                shown = next
            }
        }
        #expect(parts > 0, "the most is converted in parts")
    }

    /// Bug: luma of these sizes is scaled row by row, chroma in strips of 64 rows. What was made began and ended within
    /// such a strip: its other rows were of the sample before, or missing.
    @Test(arguments: [(1920, 1080, 640, 360), (611, 461, 322, 182)])
    func chromaMayBeMadeInLargerPartsThanLuma(width: Int, height: Int, canvasWidth: Int, canvasHeight: Int) throws {
        var random = SplitMix64(seed: 7)
        let source = VideoSampleFormat(packed: .i444, width: width, height: height)
        let canvas = canvasFormat(canvasWidth, canvasHeight)
        let plan = GeometryPlan(source: source, transform: .identity, canvas: canvas, fit: .stretch)
        var payload = Self.randomBytes(source.minimumPayloadBytes, using: &random)
        let intake = FrameIntake(plan.canvas, .native)
        var shown = try take(payload, plan, with: intake)
        for y in [0, height / 3, height / 2, height - 40] {
            var damage = PictureDamage()
            _ = damage.add(.init(x: 0, y: UInt16(y), width: UInt16(width), height: 40))
            Self.change(&payload, source, damage[0], using: &random)
            let next = picture(of: plan.canvas)
            next.copySamples(of: shown)
            try intake.begin(plan, into: next, changing: damage)
            try payload.withUnsafeBytes { bytes in
                while let band = intake.nextBand() {
                    try intake.bandArrived(at: bytes.baseAddress! + band.payloadOffset)
                }
            }
            let whole = try take(payload, plan, scaler: .native)
            #expect(next.hasSameSamples(as: whole), "\(width)x\(height), rows from \(y)")
            shown = next
        }
    }

    /// The same intake goes on with whole samples afterwards, and a sample that is given up leaves nothing behind.
    @Test func wholeSamplesFollow() throws {
        var random = SplitMix64(seed: 3)
        let source = VideoSampleFormat(packed: .nv12VideoRange, width: 192, height: 320)
        for transform in UprightTransform.allCases {
            let plan = GeometryPlan(source: source, transform: transform, canvas: canvasFormat(320, 480), fit: .fit)
            let intake = FrameIntake(plan.canvas)
            var payload = Self.randomBytes(source.minimumPayloadBytes, using: &random)
            let first = try take(payload, plan, with: intake)
            var damage = PictureDamage()
            _ = damage.add(.init(x: 0, y: 100, width: 192, height: 4))
            Self.change(&payload, source, damage[0], using: &random)
            let next = picture(of: plan.canvas)
            next.copySamples(of: first)
            try intake.begin(plan, into: next, changing: damage)
            let band = try #require(intake.nextBand())
            #expect(band.byteCount < 192 * 320)
            intake.cancel()
            let again = try take(payload, plan, with: intake, into: next)
            #expect(try again.hasSameSamples(as: take(payload, plan)))
        }
    }

    /// Rows that are too long for a band are gathered in pairs: such samples are converted whole.
    @Test func rowsThatAreGatheredAreConvertedWhole() throws {
        var source = VideoSampleFormat(packed: .nv12VideoRange, width: 64, height: 20)
        source.setPlane(0, PlaneLocation(offset: 0, stride: 140_000))
        source.setPlane(1, PlaneLocation(offset: source.planeBytes(0), stride: 64))
        let plan = GeometryPlan(source: source, transform: .identity, canvas: canvasFormat(64, 40), fit: .stretch)
        var payload = [UInt8](repeating: 7, count: source.minimumPayloadBytes)
        let intake = FrameIntake(plan.canvas)
        let next = picture(of: plan.canvas)
        try next.copySamples(of: take(payload, plan, with: intake))
        payload[0] = 90
        var damage = PictureDamage()
        _ = damage.add(.init(x: 0, y: 0, width: 1, height: 1))
        try intake.begin(plan, into: next, changing: damage)
        var asked = 0
        try payload.withUnsafeBytes { bytes in
            while let band = intake.nextBand() {
                asked += band.byteCount
                try intake.bandArrived(at: bytes.baseAddress! + band.payloadOffset)
            }
        }
        #expect(asked == plan.bands.reduce(0) { $0 + $1.byteCount })
        #expect(try next.hasSameSamples(as: take(payload, plan)))
    }

    /// Damage that the crop leaves out changes nothing, and asks for nothing.
    @Test func whatIsNotShownIsNotAskedFor() throws {
        let source = VideoSampleFormat(packed: .bgra, width: 64, height: 256)
        let plan = GeometryPlan(source: source, transform: .identity, canvas: canvasFormat(64, 64), fit: .fill)
        let intake = FrameIntake(plan.canvas)
        let payload = [UInt8](repeating: 7, count: source.minimumPayloadBytes)
        let shown = try take(payload, plan, with: intake)
        var damage = PictureDamage()
        _ = damage.add(.init(x: 0, y: 0, width: 64, height: 20))
        let next = picture(of: plan.canvas)
        next.copySamples(of: shown)
        try intake.begin(plan, into: next, changing: damage)
        #expect(intake.nextBand() == nil)
        #expect(next.hasSameSamples(as: shown))
    }
}
