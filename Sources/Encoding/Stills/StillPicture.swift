internal import CLibAV

/// A still picture, decoded from a PNG or JPEG file by libavcodec, and read by rows.
///
/// Owns the decoded pixels, up to `maxDecodedBytes`, but no other part of the file. Used by one thread. Ignores the
/// EXIF orientation, and treats colours as sRGB.
@safe package final class StillPicture {
    /// The maximum size of a file, in bytes.
    package static let maxFileBytes = 4 << 20
    /// The maximum size of the pixels while they are decoded, in bytes.
    package static let maxDecodedBytes = 16 << 20
    /// Width and height in pixels.
    package static let sides = 16...4096
    /// The most bytes that decoding needs: two copies of the file (ours and libavcodec's), the pixels and the decoder's
    /// tables.
    package static let decodingBytes = 2 * maxFileBytes + maxDecodedBytes + 400_000

    package let width: Int
    package let height: Int
    private let frame: AVFrameHandle
    private let layout: StillPictureLayout

    /// Decodes a whole file on the calling thread.
    package init(file: consuming [UInt8]) throws(StillPictureError) {
        guard file.count <= Self.maxFileBytes else {
            throw StillPictureError(
                "has \(file.count) bytes", "\(Self.maxFileBytes >> 20) MiB is the most: save it smaller")
        }
        let parts = try StillPictureFile(consume file)
        (width, height) = (parts.width, parts.height)
        let frame = try Self.decode(parts)
        let format = unsafe AVPixelFormat(frame.pointer.pointee.format)
        guard unsafe (Int(frame.pointer.pointee.width), Int(frame.pointer.pointee.height)) == (width, height) else {
            throw .cutOff()
        }
        guard let layout = StillPictureLayout(format) else {
            let name = unsafe av_get_pix_fmt_name(format).map { unsafe String(cString: $0) } ?? "?"
            throw StillPictureError("has pixels of a rare kind (\(name))", "save it as a usual PNG or JPEG file")
        }
        self.layout = layout
        self.frame = frame
    }

    /// Reads one row, blended with `color` where it is transparent.
    ///
    /// - Parameter bgra: receives `width` times four bytes.
    package func readRow(
        _ row: Int, over color: (red: UInt8, green: UInt8, blue: UInt8), into bgra: UnsafeMutablePointer<UInt8>
    ) {
        precondition((0..<height).contains(row), "a row outside of the picture")
        unsafe layout.readRow(row, of: frame.pointer, width: width, over: color, into: bgra)
    }

    private static func decode(_ file: StillPictureFile) throws(StillPictureError) -> AVFrameHandle {
        let name = file.kind == .png ? "png" : "mjpeg"
        guard let codec = unsafe avcodec_find_decoder_by_name(name) else {
            throw StillPictureError("cannot be decoded: this libavcodec has no \(name)", "use the other kind of file")
        }
        let outOfMemory = StillPictureError("cannot be decoded: memory is out", "make it smaller")
        guard let context = unsafe AVCodecContextHandle(codec), let packet = AVPacketHandle(),
            let frame = AVFrameHandle()
        else { throw outOfMemory }
        let settings = unsafe context.pointer
        unsafe settings.pointee.thread_count = 1
        unsafe settings.pointee.err_recognition = AV_EF_EXPLODE | AV_EF_CRCCHECK
        // Rows are padded in memory.
        unsafe settings.pointee.max_pixels = Int64((file.width + 128) * (file.height + 64))
        guard unsafe avcodec_open2(settings, codec, nil) >= 0,
            unsafe av_new_packet(packet.pointer, Int32(file.bytes.count)) >= 0
        else { throw outOfMemory }
        unsafe file.bytes.withUnsafeBytes { bytes in
            unsafe UnsafeMutableRawBufferPointer(start: packet.pointer.pointee.data, count: bytes.count)
                .copyMemory(from: bytes)
        }
        var code = unsafe avcodec_send_packet(settings, packet.pointer)
        // No more packets follow.
        if code >= 0 { code = unsafe avcodec_send_packet(settings, nil) }
        if code >= 0 { code = unsafe avcodec_receive_frame(settings, frame.pointer) }
        guard code >= 0, unsafe frame.pointer.pointee.decode_error_flags == 0,
            unsafe frame.pointer.pointee.flags & AV_FRAME_FLAG_CORRUPT == 0
        else { throw .cutOff() }
        return frame
    }
}
