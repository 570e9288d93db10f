internal import CLibYUV
internal import MediaCore

/// Rows of one component: the start of the first row, and the distance in bytes between rows.
@unsafe struct ComponentRows {
    var samples: UnsafeMutablePointer<UInt8>
    var stride: Int
}

/// Splits rows of a payload plane into 8-bit components, mostly with libyuv.
enum PlaneUnpacker {
    /// Unpacks `rows` rows of `width` pixels of the crop. For a plane of chroma pairs, `width` still counts luma
    /// pixels, and `rows` counts the plane's own rows. Components that the plane does not hold stay unchanged.
    static func unpack(
        _ source: UnsafePointer<UInt8>, stride: Int, format: PixelFormat, plane: Int, width: Int, rows: Int,
        y: ComponentRows, cb: ComponentRows, cr: ComponentRows
    ) {
        let pairs = (width + 1) / 2
        let (w, h) = (CInt(width), CInt(rows))
        let sourceStride = CInt(stride)
        let (yStride, cbStride, crStride) = unsafe (CInt(y.stride), CInt(cb.stride), CInt(cr.stride))
        switch format.layout {
        case .pairs(_, let crFirst):
            let (first, second) = unsafe crFirst ? (cr, cb) : (cb, cr)
            unsafe SplitUVPlane(
                source, sourceStride, first.samples, CInt(first.stride), second.samples, CInt(second.stride),
                CInt(pairs), h)
        case .tenBitPairs where plane == 0:
            for row in 0..<rows {
                unsafe narrow(source + row * stride, count: width, into: y.samples + row * y.stride)
            }
        case .tenBitPairs:
            for row in 0..<rows {
                unsafe narrowPairs(
                    source + row * stride, count: pairs, into: cb.samples + row * cb.stride,
                    and: cr.samples + row * cr.stride)
            }
        case .packed(let lumaFirst):
            let convert = unsafe lumaFirst ? YUY2ToI422 : UYVYToI422
            _ = unsafe convert(
                source, sourceStride, y.samples, yStride, cb.samples, cbStride, cr.samples, crStride, w, h)
        case .rgb(let red, let blue):
            // libyuv names RGB formats by their 32-bit words, in reverse order of the bytes in memory. J420 is BT.601
            // in full range, which keeps more of the 8 bits than libyuv's video-range functions. A R G B A ... is read
            // as R G B A from its second byte on; the last alpha then lies one byte after the row.
            let convert = unsafe red < blue ? ABGRToJ420 : ARGBToJ420
            _ = unsafe convert(
                source + min(red, blue), sourceStride, y.samples, yStride, cb.samples, cbStride, cr.samples, crStride,
                w, h)
        case .planar, .gray:
            preconditionFailure("planes of one component need no unpacking")
        }
    }

    /// The upper 8 bits of little-endian 16-bit samples, rounded. libyuv only truncates, which darkens by 3/8 of a
    /// step. libswscale dithers, which costs bits in the encoder.
    private static func narrow(
        _ source: UnsafeRawPointer, count: Int, into destination: UnsafeMutablePointer<UInt8>
    ) {
        for x in 0..<count {
            let word = unsafe source.loadUnaligned(fromByteOffset: 2 &* x, as: UInt16.self)
            unsafe destination[x] = rounded(UInt16(littleEndian: word))
        }
    }

    /// Like `narrow`, for alternating Cb and Cr samples.
    private static func narrowPairs(
        _ source: UnsafeRawPointer, count: Int, into first: UnsafeMutablePointer<UInt8>,
        and second: UnsafeMutablePointer<UInt8>
    ) {
        for x in 0..<count {
            let pair = unsafe UInt32(littleEndian: source.loadUnaligned(fromByteOffset: 4 &* x, as: UInt32.self))
            unsafe first[x] = rounded(UInt16(truncatingIfNeeded: pair))
            unsafe second[x] = rounded(UInt16(truncatingIfNeeded: pair >> 16))
        }
    }

    @inline(__always)
    private static func rounded(_ sample: UInt16) -> UInt8 {
        UInt8(truncatingIfNeeded: (min(sample, 0xff7f) &+ 0x80) >> 8)
    }
}
