package import MediaCore

/// R'G'B' to Y'CbCr from the definitions (ITU-T H.273, 8.3), in floating point.
package enum ColorConversion {
    /// Y' from 0 to 1, Cb and Cr from -0.5 to 0.5, in separate planes.
    package struct YCbCr {
        package let width: Int
        package let height: Int
        package var y: [Float]
        package var cb: [Float]
        package var cr: [Float]
    }

    package static func yCbCr(_ image: RGBImage, matrix: ColorMatrix) -> YCbCr {
        let (kr, kb): (Float, Float) =
            switch matrix {
            case .bt709: (0.2126, 0.0722)
            case .bt601: (0.299, 0.114)
            case .bt2020: (0.2627, 0.0593)
            }
        let count = image.width * image.height
        var result = YCbCr(
            width: image.width, height: image.height, y: [Float](repeating: 0, count: count),
            cb: [Float](repeating: 0, count: count), cr: [Float](repeating: 0, count: count))
        image.pixels.withUnsafeBufferPointer { rgbBuffer in
            result.y.withUnsafeMutableBufferPointer { yBuffer in
                result.cb.withUnsafeMutableBufferPointer { cbBuffer in
                    result.cr.withUnsafeMutableBufferPointer { crBuffer in
                        var rgb = rgbBuffer.baseAddress!
                        let (ys, cbs, crs) = (yBuffer.baseAddress!, cbBuffer.baseAddress!, crBuffer.baseAddress!)
                        var i = 0
                        while i < count {
                            let y = kr * rgb[0] + (1 - kr - kb) * rgb[1] + kb * rgb[2]
                            ys[i] = y
                            cbs[i] = (rgb[2] - y) / (2 * (1 - kb))
                            crs[i] = (rgb[0] - y) / (2 * (1 - kr))
                            rgb += 3
                            i += 1
                        }
                    }
                }
            }
        }
        return result
    }

    /// Means over blocks of `across` x `down` samples; blocks at the edge of odd sizes are smaller.
    package static func subsample(
        _ plane: [Float], width: Int, height: Int, across: Int, down: Int
    ) -> [Float] {
        if across == 1 && down == 1 { return plane }
        let (columns, rows) = ((width + across - 1) / across, (height + down - 1) / down)
        var result = [Float](repeating: 0, count: columns * rows)
        plane.withUnsafeBufferPointer { sourceBuffer in
            result.withUnsafeMutableBufferPointer { targetBuffer in
                let (source, target) = (sourceBuffer.baseAddress!, targetBuffer.baseAddress!)
                var row = 0
                while row < rows {
                    var column = 0
                    while column < columns {
                        var (sum, count): (Float, Float) = (0, 0)
                        var y = row * down
                        while y < min(height, (row + 1) * down) {
                            var x = column * across
                            while x < min(width, (column + 1) * across) {
                                sum += source[y * width + x]
                                count += 1
                                x += 1
                            }
                            y += 1
                        }
                        target[row * columns + column] = sum / count
                        column += 1
                    }
                    row += 1
                }
            }
        }
        return result
    }

    /// Quantises luma (0 to 1) or chroma (-0.5 to 0.5) to integers of `bits` bits; H.273 equations 20 to 31.
    package static func quantise(_ plane: [Float], isChroma: Bool, range: ColorRange, bits: Int = 8) -> [UInt16] {
        let unit = Float(1 << (bits - 8))
        let top = Float((1 << bits) - 1)
        let scale: Float =
            switch (range, isChroma) {
            case (.full, _): top
            case (.video, false): 219 * unit
            case (.video, true): 224 * unit
            }
        let offset: Float = isChroma ? 128 * unit : range == .video ? 16 * unit : 0
        var result = [UInt16](repeating: 0, count: plane.count)
        plane.withUnsafeBufferPointer { sourceBuffer in
            result.withUnsafeMutableBufferPointer { targetBuffer in
                let (source, target) = (sourceBuffer.baseAddress!, targetBuffer.baseAddress!)
                var i = 0
                while i < sourceBuffer.count {
                    let value = source[i] * scale + offset + 0.5
                    target[i] = value < 0 ? 0 : value > top ? UInt16(top) : UInt16(value)
                    i += 1
                }
            }
        }
        return result
    }

    package static func i420(_ image: RGBImage, matrix: ColorMatrix, range: ColorRange) -> I420Image {
        let planes = yCbCr(image, matrix: matrix)
        func chroma(_ plane: [Float]) -> [UInt8] {
            let small = subsample(plane, width: image.width, height: image.height, across: 2, down: 2)
            return quantise(small, isChroma: true, range: range).map { UInt8($0) }
        }
        return I420Image(
            width: image.width, height: image.height,
            y: quantise(planes.y, isChroma: false, range: range).map { UInt8($0) }, u: chroma(planes.cb),
            v: chroma(planes.cr))
    }
}
