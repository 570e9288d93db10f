internal import CLibAV
package import MediaCore

/// Encodes still pictures with libavcodec's mjpeg.
package enum JPEG {
    /// The most memory in bytes that `encode` needs while it runs, for a picture of noise, as measured (RssAnon): 0.8
    /// MiB for 320x180, 2.1 MiB for 640x360.
    package static func estimatedBytes(width: Int, height: Int) -> Int { 400_000 + 17 * width * height / 2 }

    /// Returns a JFIF file of a picture in BT.601, full range. Takes about 2 ms for 640x360.
    package static func encode(_ picture: PicturePlanes) throws(EncodingError) -> [UInt8] {
        let name = "mjpeg"
        let encoder = try LibAVEncoder(name: name, codecIDs: [AV_CODEC_ID_MJPEG], codecNames: "JPEG")
        let context = unsafe encoder.context
        unsafe context.pointee.pix_fmt = AV_PIX_FMT_YUV420P
        unsafe context.pointee.color_range = AVCOL_RANGE_JPEG
        unsafe context.pointee.width = Int32(picture.width)
        unsafe context.pointee.height = Int32(picture.height)
        unsafe context.pointee.time_base = AVRational(num: 1, den: 1)
        unsafe context.pointee.thread_count = 1
        // 2 to 31; lower values are better quality.
        unsafe context.pointee.qmin = 4
        unsafe context.pointee.qmax = 4
        // Optimized tables would make files a tenth smaller, but need half again as much memory.
        if encoder.hasOption("huffman") { try encoder.setOption("huffman", "default") }
        try encoder.open()
        let format = CanvasFormat(
            width: picture.width, height: picture.height, frameRate: FrameRate(1),
            color: ColorDescription(matrix: .bt601, range: .full))
        let frame = try InputFrame(lending: picture, format, encoder: name)
        unsafe try encoder.send(frame.frame)
        guard try encoder.receive() else { throw .outOfMemory(encoder: name) }
        let packet = unsafe encoder.packet
        return unsafe [UInt8](UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)))
    }
}
