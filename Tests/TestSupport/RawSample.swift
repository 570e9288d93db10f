package import MediaCore

/// A picture as a capture client would send it: a format and the bytes that go with it.
package struct RawSample: Sendable {
    package let format: VideoSampleFormat
    package let payload: [UInt8]

    package init(format: VideoSampleFormat, payload: [UInt8]) {
        self.format = format
        self.payload = payload
    }

    /// Writes `stored` in a pixel format from its definition.
    ///
    /// - Parameter padding: bytes after each row, filled with a value that would be visible if it were read as pixels.
    package init(
        _ stored: RGBImage, format pixelFormat: PixelFormat, matrix: ColorMatrix = .bt709, range: ColorRange = .video,
        padding: Int = 0
    ) {
        let range: ColorRange =
            switch pixelFormat {
            case .nv12VideoRange, .nv16VideoRange, .p010VideoRange, .p210VideoRange: .video
            case .nv12FullRange, .nv16FullRange, .p010FullRange, .p210FullRange, .bgra, .rgba, .argb, .abgr: .full
            default: range
            }
        var format = VideoSampleFormat(
            packed: pixelFormat, width: stored.width, height: stored.height,
            color: ColorDescription(matrix: matrix, range: range))
        var payload: [UInt8] = []
        for (index, plane) in Self.planes(stored, pixelFormat, matrix, range).enumerated() {
            let shape = pixelFormat.plane(index)
            let rowBytes = shape.rowBytes(pictureWidth: stored.width)
            format.setPlane(index, PlaneLocation(offset: payload.count, stride: rowBytes + padding))
            if padding == 0 {
                payload += plane
            } else {
                for row in 0..<shape.rows(pictureHeight: stored.height) {
                    payload += plane[row * rowBytes..<(row + 1) * rowBytes]
                    payload += [UInt8](repeating: 0xa5, count: padding)
                }
            }
        }
        self.format = format
        self.payload = payload
    }

    private static func planes(
        _ image: RGBImage, _ pixelFormat: PixelFormat, _ matrix: ColorMatrix, _ range: ColorRange
    ) -> [[UInt8]] {
        switch pixelFormat {
        case .bgra: return [packedRGB(image, offsets: (2, 1, 0, 3))]
        case .rgba: return [packedRGB(image, offsets: (0, 1, 2, 3))]
        case .argb: return [packedRGB(image, offsets: (1, 2, 3, 0))]
        case .abgr: return [packedRGB(image, offsets: (3, 2, 1, 0))]
        default: break
        }
        let full = ColorConversion.yCbCr(image, matrix: matrix)
        let tenBits: [PixelFormat] = [.p010, .p010VideoRange, .p010FullRange, .p210VideoRange, .p210FullRange]
        let bits = tenBits.contains(pixelFormat) ? 10 : 8
        let y = ColorConversion.quantise(full.y, isChroma: false, range: range, bits: bits)
        func chroma(_ across: Int, _ down: Int) -> (cb: [UInt16], cr: [UInt16]) {
            func small(_ plane: [Float]) -> [UInt16] {
                let means = ColorConversion.subsample(
                    plane, width: image.width, height: image.height, across: across, down: down)
                return ColorConversion.quantise(means, isChroma: true, range: range, bits: bits)
            }
            return (small(full.cb), small(full.cr))
        }
        func bytes(_ plane: [UInt16]) -> [UInt8] { plane.map { UInt8($0) } }
        switch pixelFormat {
        case .nv12VideoRange, .nv12FullRange:
            let (cb, cr) = chroma(2, 2)
            return [bytes(y), interleave(cb, cr).map { UInt8($0) }]
        case .nv16VideoRange, .nv16FullRange:
            let (cb, cr) = chroma(2, 1)
            return [bytes(y), bytes(interleave(cb, cr))]
        case .nv21:
            let (cb, cr) = chroma(2, 2)
            return [bytes(y), bytes(interleave(cr, cb))]
        case .p010, .p010VideoRange, .p010FullRange:
            let (cb, cr) = chroma(2, 2)
            return [highWords(y), highWords(interleave(cb, cr))]
        case .p210VideoRange, .p210FullRange:
            let (cb, cr) = chroma(2, 1)
            return [highWords(y), highWords(interleave(cb, cr))]
        case .yv12:
            let (cb, cr) = chroma(2, 2)
            return [bytes(y), bytes(cr), bytes(cb)]
        case .i420, .i422, .i444:
            let (cb, cr) = pixelFormat == .i420 ? chroma(2, 2) : pixelFormat == .i422 ? chroma(2, 1) : chroma(1, 1)
            return [bytes(y), bytes(cb), bytes(cr)]
        case .yuy2, .yuvs, .uyvy, .twoVUY:
            let (cb, cr) = chroma(2, 1)
            let lumaFirst = pixelFormat == .yuy2 || pixelFormat == .yuvs
            return [packed422(y, cb, cr, width: image.width, height: image.height, lumaFirst: lumaFirst)]
        case .gray, .bgra, .rgba, .argb, .abgr: return [bytes(y)]
        }
    }

    private static func packedRGB(_ image: RGBImage, offsets: (r: Int, g: Int, b: Int, a: Int)) -> [UInt8] {
        let count = image.width * image.height
        return [UInt8](unsafeUninitializedCapacity: count * 4) { buffer, filled in
            image.pixels.withUnsafeBufferPointer { pixels in
                var (source, target) = (pixels.baseAddress!, buffer.baseAddress!)
                var i = 0
                while i < count {
                    target[offsets.r] = UInt8(max(0, min(255, source[0] * 255 + 0.5)))
                    target[offsets.g] = UInt8(max(0, min(255, source[1] * 255 + 0.5)))
                    target[offsets.b] = UInt8(max(0, min(255, source[2] * 255 + 0.5)))
                    // Alpha is not opaque, because the daemon must ignore it and not blend.
                    target[offsets.a] = 0x40
                    source += 3
                    target += 4
                    i += 1
                }
            }
            filled = count * 4
        }
    }

    private static func interleave(_ a: [UInt16], _ b: [UInt16]) -> [UInt16] {
        var result: [UInt16] = []
        result.reserveCapacity(a.count * 2)
        var i = 0
        while i < a.count {
            result.append(a[i])
            result.append(b[i])
            i += 1
        }
        return result
    }

    /// Ten bits in the upper part of little-endian words.
    private static func highWords(_ plane: [UInt16]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(plane.count * 2)
        for value in plane {
            result.append(UInt8(truncatingIfNeeded: value << 6))
            result.append(UInt8(truncatingIfNeeded: value >> 2))
        }
        return result
    }

    private static func packed422(
        _ y: [UInt16], _ cb: [UInt16], _ cr: [UInt16], width: Int, height: Int, lumaFirst: Bool
    ) -> [UInt8] {
        let pairs = (width + 1) / 2
        var result: [UInt8] = []
        result.reserveCapacity(pairs * height * 4)
        for row in 0..<height {
            for pair in 0..<pairs {
                let first = UInt8(y[row * width + pair * 2])
                let second = UInt8(y[row * width + min(width - 1, pair * 2 + 1)])
                let (blue, red) = (UInt8(cb[row * pairs + pair]), UInt8(cr[row * pairs + pair]))
                result += lumaFirst ? [first, blue, second, red] : [blue, first, red, second]
            }
        }
        return result
    }
}
