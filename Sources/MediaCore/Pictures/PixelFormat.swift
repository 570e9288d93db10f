/// The relation of one plane's samples to the picture: subsampling, and the bytes of one element.
package struct PlaneShape: Equatable, Sendable {
    /// Horizontal subsampling: a row has `(width + widthDivisor - 1) / widthDivisor` elements.
    package let widthDivisor: Int
    /// Vertical subsampling: the plane has `(height + heightDivisor - 1) / heightDivisor` rows.
    package let heightDivisor: Int
    /// Bytes of one element: 1 for luma, 2 for an interleaved 8-bit CbCr pair or a 16-bit sample, 4 for BGRA.
    package let bytesPerElement: Int

    package init(_ widthDivisor: Int, _ heightDivisor: Int, _ bytesPerElement: Int) {
        self.widthDivisor = widthDivisor
        self.heightDivisor = heightDivisor
        self.bytesPerElement = bytesPerElement
    }

    /// The plane's rows in a picture of `height` rows; odd heights are rounded up.
    package func rows(pictureHeight height: Int) -> Int { (height + heightDivisor - 1) / heightDivisor }
    /// Bytes of samples in one row, without padding; odd widths are rounded up.
    package func rowBytes(pictureWidth width: Int) -> Int {
        (width + widthDivisor - 1) / widthDivisor * bytesPerElement
    }
}

/// The arrangement of a picture's components in its planes. Unpacking needs no other property of a format.
package enum PixelLayout: Sendable, Hashable {
    /// The subsampling of chroma.
    package enum Chroma: Sendable { case c420, c422, c444 }

    /// Three 8-bit planes: Y, Cb, Cr; or Y, Cr, Cb.
    case planar(Chroma, crFirst: Bool = false)
    /// A Y plane and a plane of chroma pairs: Cb and Cr, or Cr and Cb; 8 bits each.
    case pairs(Chroma, crFirst: Bool = false)
    /// Like `pairs`, Cb first, in little-endian 16-bit words with the value in the upper ten bits.
    case tenBitPairs(Chroma)
    /// One plane of 4:2:2: Y0 Cb Y1 Cr, or Cb Y0 Cr Y1.
    case packed(lumaFirst: Bool)
    /// One plane of 8-bit RGB with a fourth byte that is ignored. The values are the positions of red and blue in the
    /// four bytes; green is between them.
    case rgb(red: Int, blue: Int)
    /// One plane of 8-bit luma.
    case gray
}

/// The raw pixel formats that a capture client may send, named by their FourCC.
///
/// Most biplanar names include the range, as Core Video's do (`420v` video range, `420f` full range). For all other
/// Y'CbCr formats, the sample's `ColorDescription` has the range.
package enum PixelFormat: CaseIterable, Sendable, Hashable {
    /// NV12, video range (kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange).
    case nv12VideoRange
    /// NV12, full range (kCVPixelFormatType_420YpCbCr8BiPlanarFullRange).
    case nv12FullRange
    /// NV16, video range (kCVPixelFormatType_422YpCbCr8BiPlanarVideoRange).
    case nv16VideoRange
    /// NV16, full range (kCVPixelFormatType_422YpCbCr8BiPlanarFullRange).
    case nv16FullRange
    case nv21
    case i420
    case yv12
    case i422
    case i444
    /// 10-bit 4:2:0.
    case p010
    /// 10-bit 4:2:0, video range (kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange).
    case p010VideoRange
    /// 10-bit 4:2:0, full range (kCVPixelFormatType_420YpCbCr10BiPlanarFullRange).
    case p010FullRange
    /// 10-bit 4:2:2, video range (kCVPixelFormatType_422YpCbCr10BiPlanarVideoRange).
    case p210VideoRange
    /// 10-bit 4:2:2, full range (kCVPixelFormatType_422YpCbCr10BiPlanarFullRange).
    case p210FullRange
    case yuy2
    /// Core Video's name for `yuy2` (kCVPixelFormatType_422YpCbCr8_yuvs).
    case yuvs
    case uyvy
    /// Core Video's name for `uyvy` (kCVPixelFormatType_422YpCbCr8).
    case twoVUY
    /// RGB formats are named after their bytes in memory; alpha is ignored.
    case bgra
    case rgba
    case argb
    case abgr
    case gray

    /// One row for each format: name, layout, and the range if the name includes it.
    private var row: (fourCC: FourCC, layout: PixelLayout, range: ColorRange?) {
        switch self {
        case .nv12VideoRange: (FourCC("420v"), .pairs(.c420), .video)
        case .nv12FullRange: (FourCC("420f"), .pairs(.c420), .full)
        case .nv16VideoRange: (FourCC("422v"), .pairs(.c422), .video)
        case .nv16FullRange: (FourCC("422f"), .pairs(.c422), .full)
        case .nv21: (FourCC("NV21"), .pairs(.c420, crFirst: true), nil)
        case .i420: (FourCC("I420"), .planar(.c420), nil)
        case .yv12: (FourCC("YV12"), .planar(.c420, crFirst: true), nil)
        case .i422: (FourCC("I422"), .planar(.c422), nil)
        case .i444: (FourCC("I444"), .planar(.c444), nil)
        case .p010: (FourCC("P010"), .tenBitPairs(.c420), nil)
        case .p010VideoRange: (FourCC("x420"), .tenBitPairs(.c420), .video)
        case .p010FullRange: (FourCC("xf20"), .tenBitPairs(.c420), .full)
        case .p210VideoRange: (FourCC("x422"), .tenBitPairs(.c422), .video)
        case .p210FullRange: (FourCC("xf22"), .tenBitPairs(.c422), .full)
        case .yuy2: (FourCC("YUY2"), .packed(lumaFirst: true), nil)
        case .yuvs: (FourCC("yuvs"), .packed(lumaFirst: true), nil)
        case .uyvy: (FourCC("UYVY"), .packed(lumaFirst: false), nil)
        case .twoVUY: (FourCC("2vuy"), .packed(lumaFirst: false), nil)
        case .bgra: (FourCC("BGRA"), .rgb(red: 2, blue: 0), nil)
        case .rgba: (FourCC("RGBA"), .rgb(red: 0, blue: 2), nil)
        case .argb: (FourCC("ARGB"), .rgb(red: 1, blue: 3), nil)
        case .abgr: (FourCC("ABGR"), .rgb(red: 3, blue: 1), nil)
        case .gray: (FourCC("GREY"), .gray, nil)
        }
    }

    package var fourCC: FourCC { row.fourCC }
    package var layout: PixelLayout { row.layout }
    /// The range in the format's name, whatever the sample says; nil if the name has none.
    package var rangeOfName: ColorRange? { row.range }

    package init?(fourCC: FourCC) {
        guard let match = Self.allCases.first(where: { $0.fourCC == fourCC }) else { return nil }
        self = match
    }

    /// The number of planes in the payload: 1, 2 or 3.
    package var planeCount: Int {
        switch layout {
        case .pairs, .tenBitPairs: 2
        case .planar: 3
        case .packed, .rgb, .gray: 1
        }
    }

    /// The shape of plane `index` (0 up to `planeCount`).
    package func plane(_ index: Int) -> PlaneShape {
        let (horizontal, vertical) = index == 0 ? (1, 1) : chromaDivisors
        return switch layout {
        case .planar, .gray: PlaneShape(horizontal, vertical, 1)
        case .pairs: PlaneShape(horizontal, vertical, index == 0 ? 1 : 2)
        case .tenBitPairs: PlaneShape(horizontal, vertical, index == 0 ? 2 : 4)
        case .packed: PlaneShape(2, 1, 4)
        case .rgb: PlaneShape(1, 1, 4)
        }
    }

    /// The subsampling of chroma, horizontally and vertically, after unpacking. RGB is unpacked to 4:2:0 directly,
    /// because the canvas cannot hold more.
    package var chromaDivisors: (horizontal: Int, vertical: Int) {
        switch layout {
        case .planar(let chroma, _), .pairs(let chroma, _), .tenBitPairs(let chroma):
            switch chroma {
            case .c420: (2, 2)
            case .c422: (2, 1)
            case .c444: (1, 1)
            }
        case .packed: (2, 1)
        case .rgb, .gray: (2, 2)
        }
    }

    package var isRGB: Bool { if case .rgb = layout { true } else { false } }
}
