internal import CLibAV
internal import MediaCore

/// The AVFrame that is painted on and encoded, in reference-counted memory, so that no encoder need copy it.
@safe final class CanvasFrame {
    private let handle: AVFrameHandle
    private let encoder: String

    var frame: UnsafeMutablePointer<AVFrame> { unsafe handle.pointer }

    /// A black frame.
    init(_ canvas: CanvasFormat, format: AVPixelFormat, encoder: String) throws(EncodingError) {
        guard let handle = AVFrameHandle() else {
            throw .outOfMemory(encoder: encoder)
        }
        let frame = unsafe handle.pointer
        let color = VideoColor(canvas.color)
        unsafe frame.pointee.format = format.rawValue
        unsafe frame.pointee.width = Int32(canvas.width)
        unsafe frame.pointee.height = Int32(canvas.height)
        unsafe frame.pointee.colorspace = color.space
        unsafe frame.pointee.color_primaries = color.primaries
        unsafe frame.pointee.color_trc = color.transfer
        unsafe frame.pointee.color_range = color.range
        unsafe frame.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        try check(unsafe av_frame_get_buffer(frame, 64), "allocating the canvas", encoder: encoder)
        self.handle = handle
        self.encoder = encoder
        let chromaRows = canvas.height / 2
        fill(0, rows: canvas.height, with: color.black)
        fill(1, rows: chromaRows, with: 128)
        if format == AV_PIX_FMT_YUV420P { fill(2, rows: chromaRows, with: 128) }
    }

    /// Makes sure that no encoder holds the frame's memory; where one does, the frame moves to a copy with the same
    /// content (av_frame_make_writable).
    func makeWritable() throws(EncodingError) {
        try check(unsafe av_frame_make_writable(frame), "copying the canvas", encoder: encoder)
    }

    /// The planes of an I420 frame.
    var planes: PicturePlanes {
        let data = unsafe frame.pointee.data
        let strides = unsafe frame.pointee.linesize
        // A frame that av_frame_get_buffer has filled has its three planes.
        return unsafe PicturePlanes(
            y: data.0!, u: data.1!, v: data.2!, yStride: Int(strides.0), uStride: Int(strides.1),
            vStride: Int(strides.2), width: Int(frame.pointee.width), height: Int(frame.pointee.height))
    }

    /// Copies an I420 picture of the same size into this NV12 frame.
    func copyInterleaved(_ source: PicturePlanes) {
        let (luma, chroma) = unsafe (frame.pointee.data.0!, frame.pointee.data.1!)
        let (lumaStride, chromaStride) = unsafe (Int(frame.pointee.linesize.0), Int(frame.pointee.linesize.1))
        for row in 0..<source.height {
            unsafe (luma + row * lumaStride).update(from: source.y + row * source.yStride, count: source.width)
        }
        for row in 0..<(source.height / 2) {
            let target = unsafe chroma + row * chromaStride
            let u = unsafe source.u + row * source.uStride
            let v = unsafe source.v + row * source.vStride
            for column in 0..<(source.width / 2) {
                unsafe target[2 * column] = u[column]
                unsafe target[2 * column + 1] = v[column]
            }
        }
    }

    private func fill(_ plane: Int, rows: Int, with value: UInt8) {
        let (data, strides) = unsafe (frame.pointee.data, frame.pointee.linesize)
        switch plane {
        case 0: unsafe data.0?.update(repeating: value, count: rows * Int(strides.0))
        case 1: unsafe data.1?.update(repeating: value, count: rows * Int(strides.1))
        default: unsafe data.2?.update(repeating: value, count: rows * Int(strides.2))
        }
    }
}
