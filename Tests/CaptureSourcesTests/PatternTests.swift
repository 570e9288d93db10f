import CaptureSources
import MediaCore
import Testing

@Suite struct PatternTests {
    /// One plane of elements of one to four bytes, and the plainest way to turn it.
    private struct Plane: Equatable {
        var width: Int
        var height: Int
        var elements: [UInt32]

        func turned(_ transform: UprightTransform) -> Plane {
            let (newWidth, newHeight) = transform.swapsAxes ? (height, width) : (width, height)
            var result = Plane(width: newWidth, height: newHeight, elements: elements)
            for y in 0..<height {
                for x in 0..<width {
                    let (toX, toY) =
                        switch transform {
                        case .identity: (x, y)
                        case .mirrorHorizontal: (width - 1 - x, y)
                        case .rotate180: (width - 1 - x, height - 1 - y)
                        case .mirrorVertical: (x, height - 1 - y)
                        case .transpose: (y, x)
                        case .rotate90Clockwise: (height - 1 - y, x)
                        case .transverse: (height - 1 - y, width - 1 - x)
                        case .rotate270Clockwise: (y, width - 1 - x)
                        }
                    result.elements[toY * newWidth + toX] = elements[y * width + x]
                }
            }
            return result
        }
    }

    private func planes(_ video: PatternVideo) -> [Plane] {
        let format = video.format
        return (0..<format.pixelFormat.planeCount).map { index in
            let shape = format.pixelFormat.plane(index)
            let (rowBytes, size) = (shape.rowBytes(pictureWidth: format.width), shape.bytesPerElement)
            let rows = shape.rows(pictureHeight: format.height)
            let pixels = video.pixels
            var elements: [UInt32] = []
            for row in 0..<rows {
                let start = format.plane(index).offset + row * format.plane(index).stride
                for at in stride(from: start, to: start + rowBytes, by: size) {
                    elements.append(pixels[at..<(at + size)].reduce(0) { $0 << 8 | UInt32($1) })
                }
            }
            return Plane(width: rowBytes / size, height: rows, elements: elements)
        }
    }

    private func pattern(
        _ format: PixelFormat, _ width: Int, _ height: Int, _ tag: OrientationTag?,
        _ convention: OrientationConvention = .exif, frames: [Int64] = [0]
    ) -> PatternVideo {
        let video = PatternVideo(
            format: VideoSampleFormat(packed: format, width: width, height: height), rate: FrameRate(30),
            convention: convention)
        for frame in frames {
            video.draw(frame: frame, time: MediaTime(sample: frame, rate: 30), orientation: tag)
        }
        return video
    }

    /// Everything but the two lines of label, which name size and orientation: seventeen 24ths of the shorter side
    /// down, fifteen dots of two pixels high.
    private func withoutLabel(_ plane: Plane, chroma: Bool = false) -> Plane {
        var result = plane
        let side = min(plane.width, plane.height) * (chroma ? 2 : 1)
        let top = 17 * (side / 24 & ~1)
        for y in (chroma ? top / 2..<(top / 2 + 15) : top..<(top + 30)) {
            for x in 0..<plane.width { result.elements[y * plane.width + x] = 0 }
        }
        return result
    }

    /// The stored picture, turned as its tag says, is the upright picture: in both conventions, in planar, semi-planar
    /// and packed formats, luma and chroma.
    @Test(arguments: OrientationTag.allCases, OrientationConvention.allCases)
    func whoObeysTheTagSeesItUpright(tag: OrientationTag, convention: OrientationConvention) {
        let transform = convention.uprightTransform(for: tag)
        let (width, height) = (192, 144)
        for format in [PixelFormat.i420, .nv12VideoRange, .bgra] {
            let stored = pattern(format, width, height, tag, convention, frames: [3, 9])
            let (uprightWidth, uprightHeight) = transform.swapsAxes ? (height, width) : (width, height)
            let upright = pattern(format, uprightWidth, uprightHeight, .up, frames: [3, 9])
            #expect(stored.format.width == width && stored.format.height == height)
            for (index, (turned, expected)) in zip(planes(stored), planes(upright)).enumerated() {
                let chroma = format.plane(index).heightDivisor == 2
                let seen = withoutLabel(turned.turned(transform), chroma: chroma)
                let isUpright = seen == withoutLabel(expected, chroma: chroma)
                #expect(isUpright, "plane \(index) of \(format)")
            }
        }
    }

    /// Odd sizes cannot keep chroma exact in every orientation, luma can.
    @Test(arguments: OrientationTag.allCases)
    func oddSizesAreUprightToo(tag: OrientationTag) {
        let transform = OrientationConvention.exif.uprightTransform(for: tag)
        let stored = pattern(.i420, 161, 143, tag)
        let upright = transform.swapsAxes ? pattern(.i420, 143, 161, .up) : pattern(.i420, 161, 143, .up)
        let isUpright = withoutLabel(planes(stored)[0].turned(transform)) == withoutLabel(planes(upright)[0])
        #expect(isUpright)
    }

    /// A daemon that ignores the tag, or turns the wrong way, shows a picture that differs from the right one nearly
    /// everywhere.
    @Test func thePatternHasNoSymmetry() {
        let upright = planes(pattern(.i444, 192, 192, .up))
        for transform in UprightTransform.allCases where transform != .identity {
            let same = zip(upright[1].elements, upright[1].turned(transform).elements).filter { $0 == $1 }.count
            #expect(same * 5 < upright[1].elements.count * 3, "\(transform)")
        }
        // Luma of every quadrant differs as well, so that grey formats can be told apart.
        let luma = upright[0]
        let corners = [(4, 4), (187, 4), (4, 187), (187, 187)].map { luma.elements[$0.1 * 192 + $0.0] }
        #expect(Set(corners).count == 4)
    }

    @Test func itMovesAndLeavesNoTrace() {
        let first = pattern(.i420, 320, 240, .up, frames: [0]).pixels
        #expect(pattern(.i420, 320, 240, .up, frames: [1]).pixels != first)
        // Whatever was drawn before, and however the device was held, a frame looks the same.
        let video = pattern(.i420, 320, 240, .up, frames: [7, 29, 31])
        for tag in [OrientationTag.left, .upMirrored, .up] {
            video.draw(frame: 40, time: .seconds(1), orientation: tag)
        }
        video.draw(frame: 60, time: .seconds(2), orientation: .up)
        #expect(video.pixels == pattern(.i420, 320, 240, .up, frames: [60]).pixels)
    }

    @Test(arguments: PixelFormat.allCases)
    func everyFormatAndSizeCanBeDrawn(format: PixelFormat) {
        for (width, height) in [(16, 16), (17, 31), (16, 300), (641, 18)] {
            for tag in OrientationTag.allCases {
                let video = pattern(format, width, height, tag, frames: [0, 999_999_999])
                #expect(video.pixels.count == video.format.minimumPayloadBytes)
            }
        }
    }

    /// RGB (190, 40, 50), worked out by hand from the Recommendations' equations.
    @Test func coloursFollowTheMatrix() {
        for (color, expected) in [
            (ColorDescription(matrix: .bt709, range: .video), [UInt32(78), 117, 193]),
            (ColorDescription(matrix: .bt601, range: .full), [86, 108, 202]),
        ] {
            let format = VideoSampleFormat(packed: .i444, width: 64, height: 64, color: color)
            let video = PatternVideo(format: format, rate: FrameRate(1), convention: .exif)
            video.draw(frame: 0, time: .zero, orientation: .up)
            let corner = planes(video).map { $0.elements[0] }
            #expect(corner == expected)
        }
        for (format, range, bytes) in [
            (PixelFormat.rgba, ColorRange.full, [UInt8(190), 40, 50, 255]), (.bgra, .full, [50, 40, 190, 255]),
            (.argb, .full, [255, 190, 40, 50]), (.abgr, .full, [255, 50, 40, 190]), (.rgba, .video, [179, 50, 59, 255]),
        ] {
            let color = ColorDescription(matrix: .bt709, range: range)
            let layout = VideoSampleFormat(packed: format, width: 64, height: 64, color: color)
            let video = PatternVideo(format: layout, rate: FrameRate(1), convention: .exif)
            video.draw(frame: 0, time: .zero, orientation: .up)
            #expect(Array(video.pixels.prefix(4)) == bytes)
        }
    }
}
