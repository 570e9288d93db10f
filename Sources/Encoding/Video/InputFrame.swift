internal import CLibAV
internal import MediaCore

/// An AVFrame for the encoder. It refers to a picture's memory, or owns memory for copies of pictures.
@safe final class InputFrame {
    private let handle: AVFrameHandle
    private let encoder: String

    var frame: UnsafeMutablePointer<AVFrame> { unsafe handle.pointer }

    /// Refers to the picture's memory, for an encoder that does not read a frame after it returns.
    init(lending picture: PicturePlanes, _ canvas: CanvasFormat, encoder: String) throws(EncodingError) {
        handle = try Self.frame(canvas, AV_PIX_FMT_YUV420P, encoder: encoder)
        self.encoder = encoder
        // Without a buffer, libavcodec would copy the frame. This buffer frees nothing.
        unsafe frame.pointee.buf.0 = av_buffer_create(picture.y, picture.yStride, { _, _ in }, nil, 0)
        guard unsafe frame.pointee.buf.0 != nil else { throw .outOfMemory(encoder: encoder) }
        unsafe frame.pointee.data.0 = picture.y
        unsafe frame.pointee.data.1 = picture.u
        unsafe frame.pointee.data.2 = picture.v
        unsafe frame.pointee.linesize.0 = Int32(picture.yStride)
        unsafe frame.pointee.linesize.1 = Int32(picture.uStride)
        unsafe frame.pointee.linesize.2 = Int32(picture.vStride)
    }

    /// Whether the frame refers to this picture's memory.
    func lends(_ picture: PicturePlanes) -> Bool { unsafe frame.pointee.data.0 == picture.y }

    /// Owns memory for copies, for encoders that keep frames or need NV12.
    init(copyingTo format: AVPixelFormat, _ canvas: CanvasFormat, encoder: String) throws(EncodingError) {
        handle = try Self.frame(canvas, format, encoder: encoder)
        self.encoder = encoder
        try check(unsafe av_frame_get_buffer(frame, 64), "allocating a frame", encoder: encoder)
    }

    private static func frame(
        _ canvas: CanvasFormat, _ format: AVPixelFormat, encoder: String
    ) throws(EncodingError) -> AVFrameHandle {
        guard let handle = AVFrameHandle() else { throw .outOfMemory(encoder: encoder) }
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
        return handle
    }

    /// Copies a picture of the same size. If an encoder still uses the frame's memory, the frame gets other memory
    /// (av_frame_make_writable).
    func copy(_ picture: PicturePlanes) throws(EncodingError) {
        try check(unsafe av_frame_make_writable(frame), "copying a frame", encoder: encoder)
        let (data, strides) = unsafe (frame.pointee.data, frame.pointee.linesize)
        for row in 0..<picture.height {
            unsafe (data.0! + row * Int(strides.0))
                .update(from: picture.y + row * picture.yStride, count: picture.width)
        }
        for row in 0..<picture.height / 2 {
            let u = unsafe picture.u + row * picture.uStride
            let v = unsafe picture.v + row * picture.vStride
            if unsafe frame.pointee.format == AV_PIX_FMT_NV12.rawValue {
                let target = unsafe data.1! + row * Int(strides.1)
                for column in 0..<picture.width / 2 {
                    unsafe target[2 * column] = u[column]
                    unsafe target[2 * column + 1] = v[column]
                }
            } else {
                unsafe (data.1! + row * Int(strides.1)).update(from: u, count: picture.width / 2)
                unsafe (data.2! + row * Int(strides.2)).update(from: v, count: picture.width / 2)
            }
        }
    }
}
