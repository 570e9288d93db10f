import SeededRandom
import Encoding
import Foundation
import MediaCore

/// Pictures for an encoder.
enum TestPictures {
    /// A black one of the encoder's size.
    static func canvas(of encoder: VideoEncoder) -> Picture {
        let picture = Picture(width: encoder.format.width, height: encoder.format.height)
        let planes = picture.planes
        planes.y.update(repeating: 16, count: planes.yStride * planes.height)
        planes.u.update(repeating: 128, count: planes.uStride * planes.height / 2)
        planes.v.update(repeating: 128, count: planes.vStride * planes.height / 2)
        return picture
    }

    /// Gradients in all planes with a bright square that moves; soft enough to be coded well.
    static func paintScene(_ frame: Int, on planes: PicturePlanes) {
        for row in 0..<planes.height {
            let line = planes.y + row * planes.yStride
            for column in 0..<planes.width {
                line[column] = UInt8(40 + (row + column) * 80 / (planes.width + planes.height))
            }
        }
        let side = min(planes.width, planes.height) / 4
        let (left, top) = ((frame * 4) % (planes.width - side), (frame * 2) % (planes.height - side))
        for row in top..<(top + side) {
            (planes.y + row * planes.yStride + left).update(repeating: 200, count: side)
        }
        for row in 0..<(planes.height / 2) {
            let (slope, count) = (row * 50 / planes.height, planes.width / 2)
            (planes.u + row * planes.uStride).update(repeating: UInt8(100 + slope), count: count)
            (planes.v + row * planes.vStride).update(repeating: UInt8(160 - slope), count: count)
        }
    }

    /// Noise that no encoder can predict, so that the rate control alone decides the size. Widths are multiples of 8.
    static func paintNoise(_ random: inout SplitMix64, on planes: PicturePlanes) {
        for row in 0..<planes.height {
            let line = UnsafeMutableRawPointer(planes.y + row * planes.yStride)
            for offset in stride(from: 0, to: planes.width, by: 8) {
                let value = 0x4040_4040_4040_4040 + (random.next() & 0x3f3f_3f3f_3f3f_3f3f)
                line.storeBytes(of: value, toByteOffset: offset, as: UInt64.self)
            }
        }
    }

    /// The planes' samples without padding, as ffmpeg's raw video has them.
    static func bytes(of planes: PicturePlanes) -> [UInt8] {
        var bytes: [UInt8] = []
        for (start, stride, width, height) in [
            (planes.y, planes.yStride, planes.width, planes.height),
            (planes.u, planes.uStride, planes.width / 2, planes.height / 2),
            (planes.v, planes.vStride, planes.width / 2, planes.height / 2),
        ] {
            for row in 0..<height { bytes += UnsafeBufferPointer(start: start + row * stride, count: width) }
        }
        return bytes
    }

    /// Peak signal-to-noise ratio in dB over all samples; 99 for equal pictures.
    static func psnr(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Double {
        var squares = 0
        for (x, y) in zip(a, b) {
            let difference = Int(x) - Int(y)
            squares += difference * difference
        }
        guard squares > 0 else { return 99 }
        return 10 * log10(255.0 * 255 * Double(a.count) / Double(squares))
    }
}
