import MediaCore
import SeededRandom
import Testing

@testable import FrameGeometry

@Suite struct ColorTests {
    /// Colours as R, G, B; in BT.601 full range (JFIF), to one decimal; in BT.709 video range (BT.709-6, table 4).
    static let colours: [(rgb: [UInt8], jfif: [Double], hd: [Int])] = [
        ([0, 0, 0], [0, 128, 128], [16, 128, 128]),
        ([255, 255, 255], [255, 128, 128], [235, 128, 128]),
        ([128, 128, 128], [128, 128, 128], [126, 128, 128]),
        ([255, 0, 0], [76.2, 85.0, 255.5], [63, 102, 240]),
        ([0, 255, 0], [149.7, 43.5, 21.2], [173, 42, 26]),
        ([0, 0, 255], [29.1, 255.5, 107.3], [32, 240, 118]),
        ([255, 255, 0], [225.9, 0.5, 148.7], [219, 16, 138]),
        ([0, 255, 255], [178.8, 171.0, 0.5], [188, 154, 16]),
        ([255, 0, 255], [105.3, 212.5, 234.8], [78, 214, 230]),
        ([191, 64, 32], [98.3, 90.6, 194.1], [92, 101, 185]),
    ]

    private static func flat(_ source: VideoSampleFormat, _ element: [[UInt8]]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: source.minimumPayloadBytes)
        for plane in 0..<source.pixelFormat.planeCount {
            for index in 0..<source.planeBytes(plane) {
                bytes[source.plane(plane).offset + index] = element[plane][index % element[plane].count]
            }
        }
        return bytes
    }

    private static func expect(_ result: CanvasBytes, _ expected: [Int], _ tolerance: Int, _ comment: Comment) {
        for (plane, value) in zip([result.y, result.u, result.v], expected) {
            let values = Set(plane)
            #expect(values.count == 1, comment)
            #expect(values.allSatisfy { abs(Int($0) - value) <= tolerance }, "\(values) for \(value): \(comment)")
        }
    }

    /// With and without scaling.
    @Test(arguments: [PixelFormat.bgra, .rgba, .argb, .abgr], [32, 40])
    func rgbBecomesHD(format: PixelFormat, size: Int) throws {
        let source = VideoSampleFormat(
            packed: format, width: size, height: size, color: ColorDescription(matrix: .bt709, range: .full))
        let plan = GeometryPlan(source: source, transform: .identity, canvas: canvasFormat(32, 32), fit: .fit)
        for (rgb, _, hd) in Self.colours {
            let element =
                switch format {
                case .bgra: [rgb[2], rgb[1], rgb[0], 7]
                case .rgba: rgb + [7]
                case .abgr: [7] + rgb.reversed()
                default: [7] + rgb
                }
            Self.expect(try paint(Self.flat(source, [element]), plan), hd, 2, "\(format) \(rgb)")
        }
    }

    /// Video-range RGB: the same colours in 16...235.
    @Test func videoRangeRGBBecomesHD() throws {
        let source = VideoSampleFormat(packed: .bgra, width: 32, height: 32, color: .hd)
        let plan = GeometryPlan(source: source, transform: .identity, canvas: canvasFormat(32, 32), fit: .fit)
        for (rgb, _, hd) in Self.colours {
            let element = [2, 1, 0].map { byte(16 + Double(rgb[$0]) * 219 / 255) } + [7]
            Self.expect(try paint(Self.flat(source, [element]), plan), hd, 2, "\(rgb)")
        }
    }

    @Test func fullRangeNV12BecomesHD() throws {
        // The range is the format's, whatever else the sample says.
        let source = VideoSampleFormat(
            packed: .nv12FullRange, width: 32, height: 32, color: ColorDescription(matrix: .bt601, range: .video))
        let plan = GeometryPlan(source: source, transform: .identity, canvas: canvasFormat(32, 32), fit: .fit)
        for (rgb, jfif, hd) in Self.colours {
            let elements = [[byte(jfif[0])], [byte(jfif[1]), byte(jfif[2])]]
            Self.expect(try paint(Self.flat(source, elements), plan), hd, 2, "\(rgb)")
        }
    }

    @Test func tenBitsAreRoundedToEight() throws {
        let source = VideoSampleFormat(packed: .p010, width: 32, height: 32, color: .hd)
        let plan = GeometryPlan(source: source, transform: .identity, canvas: canvasFormat(32, 32), fit: .fit)
        func word(_ value: Int) -> [UInt8] { [UInt8(value << 6 & 0xff), UInt8(value >> 2)] }
        for (ten, eight) in [(0, 0), (64, 16), (65, 16), (66, 17), (511, 128), (940, 235), (1021, 255), (1023, 255)] {
            let bytes = Self.flat(source, [word(ten), word(ten) + word(1023 - ten)])
            let complement = min(255, (1023 - ten + 2) / 4)
            Self.expect(try paint(bytes, plan), [eight, eight, complement], 0, "\(ten)")
        }
    }

    /// Grey has no matrix, only a range, and gets neutral chroma.
    @Test func greyKeepsItsColour() throws {
        for (range, white) in [(ColorRange.video, 235), (.full, 255)] {
            let source = VideoSampleFormat(
                packed: .gray, width: 40, height: 32, color: ColorDescription(matrix: .bt601, range: range))
            let plan = GeometryPlan(source: source, transform: .identity, canvas: canvasFormat(32, 32), fit: .stretch)
            Self.expect(try paint(Self.flat(source, [[UInt8(white)]]), plan), [235, 128, 128], 0, "\(range)")
            #expect((plan.colorConversion == nil) == (range == .video))
        }
    }

    private static let descriptions = ColorMatrix.allCases.flatMap { matrix in
        ColorRange.allCases.map { ColorDescription(matrix: matrix, range: $0) }
    }

    /// Every matrix and range to every other, against the definitions in floating point.
    @Test(arguments: descriptions, descriptions)
    func everyConversion(from: ColorDescription, to: ColorDescription) {
        let conversion = ColorConversion(source: IntakeColor(from), canvas: to)
        guard let conversion else { return #expect(from == to) }
        #expect(from != to)

        var random = SplitMix64(seed: 3)
        let colours = (0..<512).map { _ in
            RGB(
                red: Double.random(in: 0...1, using: &random), green: Double.random(in: 0...1, using: &random),
                blue: Double.random(in: 0...1, using: &random))
        }
        let picture = Picture(width: 1024, height: 2)
        defer { withExtendedLifetime(picture) {} }
        let planes = picture.planes
        for (index, colour) in colours.enumerated() {
            let source = YCbCr(colour, as: from)
            for row in 0..<2 {
                planes.y[row * planes.yStride + 2 * index] = byte(source.y)
                planes.y[row * planes.yStride + 2 * index + 1] = byte(source.y)
            }
            planes.u[index] = byte(source.cb)
            planes.v[index] = byte(source.cr)
        }
        ColorConverter().convert(planes, by: conversion)
        // Half a step comes from rounding the source, times up to 1.8 where all three inputs add up.
        for (index, colour) in colours.enumerated() {
            let expected = YCbCr(colour, as: to)
            for offset in [0, 1, planes.yStride, planes.yStride + 1] {
                #expect(abs(Double(planes.y[2 * index + offset]) - expected.y) < 1.5)
            }
            #expect(abs(Double(planes.u[index]) - expected.cb) < 1.5)
            #expect(abs(Double(planes.v[index]) - expected.cr) < 1.5)
        }
    }

    /// Grey stays grey exactly, and black and white stay what they are.
    @Test(arguments: descriptions, descriptions)
    func greyIsConvertedExactly(from: ColorDescription, to: ColorDescription) {
        guard let conversion = ColorConversion(source: IntakeColor(from), canvas: to) else { return }
        let picture = Picture(width: 16, height: 2)
        defer { withExtendedLifetime(picture) {} }
        let planes = picture.planes
        for step in 0...10 {
            let level = Double(step) / 10
            let (source, expected) = (
                YCbCr(RGB(red: level, green: level, blue: level), as: from),
                YCbCr(RGB(red: level, green: level, blue: level), as: to)
            )
            for column in 0..<16 {
                planes.y[column] = byte(source.y)
                planes.y[planes.yStride + column] = byte(source.y)
            }
            for column in 0..<8 {
                planes.u[column] = 128
                planes.v[column] = 128
            }
            ColorConverter().convert(planes, by: conversion)
            #expect((0..<16).allSatisfy { abs(Double(planes.y[$0]) - expected.y) < 1.2 })
            if step == 0 || step == 10 { #expect((0..<16).allSatisfy { planes.y[$0] == byte(expected.y) }) }
            #expect((0..<8).allSatisfy { planes.u[$0] == 128 && planes.v[$0] == 128 })
        }
    }
}
