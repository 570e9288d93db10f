/// How the samples of one plane relate to the picture: subsampling, and the bytes of one element.
package struct PlaneShape: Equatable, Sendable {
    /// Horizontal subsampling: the plane has `(width + widthDivisor - 1) / widthDivisor` elements a row.
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

    /// Rows that this plane has in a picture of `height` rows; odd heights are rounded up.
    package func rows(pictureHeight height: Int) -> Int { (height + heightDivisor - 1) / heightDivisor }
    /// Bytes of samples in one row, without padding; odd widths are rounded up.
    package func rowBytes(pictureWidth width: Int) -> Int {
        (width + widthDivisor - 1) / widthDivisor * bytesPerElement
    }
}

/// The raw pixel formats that a capture client may send, named by their FourCC.
///
/// The two NV12 names carry the range as Core Video's do (`420v` video range, `420f` full range); for every other YUV
/// format the range travels in the sample's `ColorDescription`.
package enum PixelFormat: CaseIterable, Sendable, Hashable {
    /// NV12, video range: Y plane, interleaved CbCr plane (kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange).
    case nv12VideoRange
    /// NV12, full range (kCVPixelFormatType_420YpCbCr8BiPlanarFullRange).
    case nv12FullRange
    /// Y, Cb and Cr planes, 4:2:0.
    case i420
    /// Y, Cb and Cr planes, 4:2:2.
    case i422
    /// Y, Cb and Cr planes, 4:4:4.
    case i444
    /// 10-bit 4:2:0, two planes of little-endian 16-bit words with the value in the upper ten bits.
    case p010
    /// Packed 4:2:2: Y0 Cb Y1 Cr.
    case yuy2
    /// Packed 4:2:2: Cb Y0 Cr Y1.
    case uyvy
    /// Packed RGB, bytes in memory B G R A; alpha is ignored.
    case bgra
    /// Packed RGB, bytes in memory R G B A; alpha is ignored.
    case rgba
    /// Packed RGB, bytes in memory A R G B; alpha is ignored.
    case argb
    /// One luma plane.
    case gray

    package var fourCC: FourCC {
        switch self {
        case .nv12VideoRange: FourCC("420v")
        case .nv12FullRange: FourCC("420f")
        case .i420: FourCC("I420")
        case .i422: FourCC("I422")
        case .i444: FourCC("I444")
        case .p010: FourCC("P010")
        case .yuy2: FourCC("YUY2")
        case .uyvy: FourCC("UYVY")
        case .bgra: FourCC("BGRA")
        case .rgba: FourCC("RGBA")
        case .argb: FourCC("ARGB")
        case .gray: FourCC("GREY")
        }
    }

    package init?(fourCC: FourCC) {
        guard let match = Self.allCases.first(where: { $0.fourCC == fourCC }) else { return nil }
        self = match
    }

    /// Planes in the payload: 1, 2 or 3.
    package var planeCount: Int {
        switch self {
        case .nv12VideoRange, .nv12FullRange, .p010: 2
        case .i420, .i422, .i444: 3
        case .yuy2, .uyvy, .bgra, .rgba, .argb, .gray: 1
        }
    }

    /// The shape of plane `index` (0 up to `planeCount`).
    package func plane(_ index: Int) -> PlaneShape {
        switch self {
        case .nv12VideoRange, .nv12FullRange: index == 0 ? PlaneShape(1, 1, 1) : PlaneShape(2, 2, 2)
        case .p010: index == 0 ? PlaneShape(1, 1, 2) : PlaneShape(2, 2, 4)
        case .i420: index == 0 ? PlaneShape(1, 1, 1) : PlaneShape(2, 2, 1)
        case .i422: index == 0 ? PlaneShape(1, 1, 1) : PlaneShape(2, 1, 1)
        case .i444, .gray: PlaneShape(1, 1, 1)
        case .yuy2, .uyvy: PlaneShape(2, 1, 4)
        case .bgra, .rgba, .argb: PlaneShape(1, 1, 4)
        }
    }

    package var isRGB: Bool {
        switch self {
        case .bgra, .rgba, .argb: true
        default: false
        }
    }
}
