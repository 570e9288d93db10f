internal import IngestProtocol
package import MediaCore

/// How the pixels of a frame are stored; named by its FourCC (docs/protocol.md).
public enum CapturePixelFormat: String, CaseIterable, Sendable {
    /// Y plane, interleaved CbCr plane, 4:2:0, video range.
    case nv12VideoRange = "420v"
    /// The same in full range.
    case nv12FullRange = "420f"
    /// Y plane, interleaved CbCr plane, 4:2:2, video range.
    case nv16VideoRange = "422v"
    /// The same in full range.
    case nv16FullRange = "422f"
    /// Y plane, interleaved CrCb plane, 4:2:0.
    case nv21 = "NV21"
    case i420 = "I420"
    /// As I420, Cr before Cb.
    case yv12 = "YV12"
    case i422 = "I422"
    case i444 = "I444"
    /// As NV12, in little-endian 16-bit words with the value in the upper ten bits.
    case p010 = "P010"
    /// The same in video range.
    case p010VideoRange = "x420"
    /// The same in full range.
    case p010FullRange = "xf20"
    /// The same with 4:2:2 chroma, video range.
    case p210VideoRange = "x422"
    /// The same in full range.
    case p210FullRange = "xf22"
    case yuy2 = "YUY2"
    /// Core Video's name of YUY2.
    case yuvs
    case uyvy = "UYVY"
    /// Core Video's name of UYVY.
    case twoVUY = "2vuy"
    /// Bytes in memory: B, G, R, A.
    case bgra = "BGRA"
    case rgba = "RGBA"
    case argb = "ARGB"
    case abgr = "ABGR"
    /// One luma plane.
    case gray = "GREY"

    package var pixelFormat: PixelFormat {
        switch self {
        case .nv12VideoRange: .nv12VideoRange
        case .nv12FullRange: .nv12FullRange
        case .nv16VideoRange: .nv16VideoRange
        case .nv16FullRange: .nv16FullRange
        case .nv21: .nv21
        case .i420: .i420
        case .yv12: .yv12
        case .i422: .i422
        case .i444: .i444
        case .p010: .p010
        case .p010VideoRange: .p010VideoRange
        case .p010FullRange: .p010FullRange
        case .p210VideoRange: .p210VideoRange
        case .p210FullRange: .p210FullRange
        case .yuy2: .yuy2
        case .yuvs: .yuvs
        case .uyvy: .uyvy
        case .twoVUY: .twoVUY
        case .bgra: .bgra
        case .rgba: .rgba
        case .argb: .argb
        case .abgr: .abgr
        case .gray: .gray
        }
    }
}

/// Which coefficients turn a frame's Y'CbCr into colours.
public enum CaptureColorMatrix: Sendable { case bt709, bt601, bt2020 }

/// Whether luma spans 16-235 or 0-255. `420v`, `420f` and similar formats have the range in their names.
public enum CaptureColorRange: Sendable { case video, full }

/// How a frame must be turned to be upright, with CGImagePropertyOrientation's numbers.
///
/// `BroadcastSetup.convention` settles whether `left` and `right` mean what CGImagePropertyOrientation or what
/// ReplayKit says.
public enum CaptureOrientation: UInt8, CaseIterable, Sendable {
    case up = 1
    case upMirrored = 2
    case down = 3
    case downMirrored = 4
    case leftMirrored = 5
    case right = 6
    case rightMirrored = 7
    case left = 8
}

/// Size, pixel format, colour and row strides of a frame.
public struct CaptureVideoFormat: Equatable, Sendable {
    /// A layout from the public initializer is checked, and its planes follow one another.
    package private(set) var layout: VideoSampleFormat

    /// The least number of bytes that `sendVideo(_:format:at:orientation:secure:damage:)` needs.
    public var payloadBytes: Int { layout.minimumPayloadBytes }

    /// A format whose planes follow one another, each of `rows * stride` bytes.
    ///
    /// - Parameters:
    ///   - pixelFormat: how the pixels are stored.
    ///   - width: pixels, 16 to 4096.
    ///   - height: pixels, 16 to 4096.
    ///   - strides: bytes from one row to the next, one for each plane; nil for rows without padding.
    ///   - matrix: nil for BT.709 if the longer side has at least 1280 pixels or the shorter side more than 576, and
    ///     for BT.601 otherwise.
    ///   - range: nil for full range with RGB, and for video range otherwise.
    /// - Throws: `invalidArgument` with a sentence that says what would be right.
    public init(
        _ pixelFormat: CapturePixelFormat, width: Int, height: Int, strides: [Int]? = nil,
        matrix: CaptureColorMatrix? = nil, range: CaptureColorRange? = nil
    ) throws(CaptureError) {
        let sides = IngestLimits.sides
        guard sides.contains(width), sides.contains(height) else {
            throw CaptureError(
                .invalidArgument,
                "\(width)x\(height) pixels; both sides have \(sides.lowerBound) to \(sides.upperBound)")
        }
        let format = pixelFormat.pixelFormat
        let matrix: ColorMatrix? =
            switch matrix {
            case .bt709: .bt709
            case .bt601: .bt601
            case .bt2020: .bt2020
            case nil: nil
            }
        let range: ColorRange? = range.map { $0 == .video ? .video : .full }
        let color = ColorDescription(matrix: matrix, range: range, defaultsFor: format, width: width, height: height)
        layout = VideoSampleFormat(packed: format, width: width, height: height, color: color)
        if let strides { try setStrides(strides) }
    }

    /// A layout that was made elsewhere in the package; it is checked when a frame is sent.
    package init(layout: VideoSampleFormat) { self.layout = layout }

    private mutating func setStrides(_ strides: [Int]) throws(CaptureError) {
        let format = layout.pixelFormat
        guard strides.count == format.planeCount else {
            throw CaptureError(
                .invalidArgument, "\(strides.count) strides for \(format.planeCount) planes of \(format.fourCC)")
        }
        var offset = 0
        for (index, stride) in strides.enumerated() {
            guard (0...IngestLimits.maxStride).contains(stride) else {
                throw CaptureError(
                    .invalidArgument, "a stride of \(stride) bytes; at most \(IngestLimits.maxStride) are allowed")
            }
            layout.setPlane(index, PlaneLocation(offset: offset, stride: stride))
            offset += stride * format.plane(index).rows(pictureHeight: layout.height)
        }
        do {
            try layout.check(payloadBytes: .max, limits: .default)
        } catch {
            throw CaptureError(error)
        }
    }

    /// The same planes without the padding of their last rows, for planes that are sent from separate memory.
    var gathered: VideoSampleFormat {
        var result = layout
        var offset = 0
        for index in 0..<result.pixelFormat.planeCount {
            result.setPlane(index, PlaneLocation(offset: offset, stride: result.plane(index).stride))
            offset += result.planeBytes(index)
        }
        return result
    }
}
