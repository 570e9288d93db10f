import MediaCore

/// A picture as a function: colour at a point of the unit square, (0, 0) at the top left.
typealias Scene = @Sendable (_ x: Double, _ y: Double) -> RGB

/// Smooth, without any symmetry, of colours that are inside every matrix's range.
let asymmetricScene: Scene = { x, y in
    RGB(
        red: 0.5 + 0.22 * wave(1.3 * x + 0.4 * y) + 0.2 * (x - 0.5),
        green: 0.5 + 0.2 * wave(0.7 * y - 0.9 * x + 0.15) + 0.2 * (0.5 - y),
        blue: 0.5 + 0.22 * wave(1.1 * y + 0.5 * x * x + 0.4) + 0.15 * (x - y))
}

/// A smooth wave of period 1 and amplitude 1, continuous with its first derivative: two parabolas.
private func wave(_ phase: Double) -> Double {
    let t = (phase - phase.rounded(.down)) * 2
    return t < 1 ? 4 * t * (1 - t) : -4 * (t - 1) * (2 - t)
}

/// What the numbers of a format's samples mean: the range is in the names of most biplanar formats.
func color(of format: PixelFormat, _ description: ColorDescription) -> ColorDescription {
    switch format {
    case .nv12VideoRange, .nv16VideoRange, .p010VideoRange, .p210VideoRange:
        ColorDescription(matrix: description.matrix, range: .video)
    case .nv12FullRange, .nv16FullRange, .p010FullRange, .p210FullRange:
        ColorDescription(matrix: description.matrix, range: .full)
    default: description
    }
}

/// Renders a scene as the payload that a client would send: every sample from the colour at the sample's centre. Bytes
/// that belong to no sample are 0xa5.
func payload(of scene: Scene, as format: VideoSampleFormat) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xa5, count: format.minimumPayloadBytes)
    let description = color(of: format.pixelFormat, format.color)
    func sample(_ column: Int, _ row: Int, _ across: Int, _ down: Int) -> YCbCr {
        YCbCr(rgb(column, row, across, down), as: description)
    }
    /// The colour at the centre of a block of `across` by `down` pixels.
    func rgb(_ column: Int, _ row: Int, _ across: Int, _ down: Int) -> RGB {
        scene(
            (Double(column) + 0.5) * Double(across) / Double(format.width),
            (Double(row) + 0.5) * Double(down) / Double(format.height))
    }
    func fill(_ plane: Int, _ element: (_ column: Int, _ row: Int) -> [UInt8]) {
        let shape = format.pixelFormat.plane(plane)
        for row in 0..<shape.rows(pictureHeight: format.height) {
            var offset = format.plane(plane).offset + row * format.plane(plane).stride
            for column in 0..<shape.rowBytes(pictureWidth: format.width) / shape.bytesPerElement {
                for byte in element(column, row) {
                    bytes[offset] = byte
                    offset += 1
                }
            }
        }
    }
    func rgbBytes(_ column: Int, _ row: Int) -> (red: UInt8, green: UInt8, blue: UInt8) {
        let color = rgb(column, row, 1, 1)
        let (zero, scale) = format.color.range == .video ? (16.0, 219.0) : (0, 255)
        return (byte(zero + scale * color.red), byte(zero + scale * color.green), byte(zero + scale * color.blue))
    }
    func tenBits(_ value: Double) -> [UInt8] {
        let word = UInt16(max(0, min(1023, (value * 4).rounded()))) << 6
        return [UInt8(word & 0xff), UInt8(word >> 8)]
    }

    switch format.pixelFormat {
    case .nv12VideoRange, .nv12FullRange, .nv16VideoRange, .nv16FullRange, .nv21:
        let down = [.nv16VideoRange, .nv16FullRange].contains(format.pixelFormat) ? 1 : 2
        fill(0) { [byte(sample($0, $1, 1, 1).y)] }
        fill(1) { column, row in
            let color = sample(column, row, 2, down)
            let pair = [byte(color.cb), byte(color.cr)]
            return format.pixelFormat == .nv21 ? pair.reversed() : pair
        }
    case .p010, .p010VideoRange, .p010FullRange, .p210VideoRange, .p210FullRange:
        let down = [.p210VideoRange, .p210FullRange].contains(format.pixelFormat) ? 1 : 2
        fill(0) { tenBits(sample($0, $1, 1, 1).y) }
        fill(1) { column, row in
            let color = sample(column, row, 2, down)
            return tenBits(color.cb) + tenBits(color.cr)
        }
    case .yv12:
        fill(0) { [byte(sample($0, $1, 1, 1).y)] }
        fill(1) { [byte(sample($0, $1, 2, 2).cr)] }
        fill(2) { [byte(sample($0, $1, 2, 2).cb)] }
    case .i420, .i422, .i444:
        let shape = format.pixelFormat.plane(1)
        fill(0) { [byte(sample($0, $1, 1, 1).y)] }
        fill(1) { [byte(sample($0, $1, shape.widthDivisor, shape.heightDivisor).cb)] }
        fill(2) { [byte(sample($0, $1, shape.widthDivisor, shape.heightDivisor).cr)] }
    case .yuy2, .yuvs, .uyvy, .twoVUY:
        let isYUY2 = [.yuy2, .yuvs].contains(format.pixelFormat)
        fill(0) { column, row in
            let (left, right) = (byte(sample(2 * column, row, 1, 1).y), byte(sample(2 * column + 1, row, 1, 1).y))
            let chroma = sample(column, row, 2, 1)
            return isYUY2
                ? [left, byte(chroma.cb), right, byte(chroma.cr)] : [byte(chroma.cb), left, byte(chroma.cr), right]
        }
    case .bgra, .rgba, .argb, .abgr:
        fill(0) { column, row in
            let (red, green, blue) = rgbBytes(column, row)
            // Alpha is ignored: it varies to prove it.
            let alpha = UInt8(truncatingIfNeeded: 7 * column + 13 * row)
            return switch format.pixelFormat {
            case .bgra: [blue, green, red, alpha]
            case .rgba: [red, green, blue, alpha]
            case .abgr: [alpha, blue, green, red]
            default: [alpha, red, green, blue]
            }
        }
    case .gray:
        fill(0) { [byte(sample($0, $1, 1, 1).y)] }
    }
    return bytes
}
