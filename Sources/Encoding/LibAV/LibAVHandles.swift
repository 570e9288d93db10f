internal import CLibAV

/// Owns an AVCodecContext. Freeing it also closes the encoder.
@safe struct AVCodecContextHandle: ~Copyable {
    let pointer: UnsafeMutablePointer<AVCodecContext>

    /// avcodec_alloc_context3; nil without memory.
    init?(_ codec: UnsafePointer<AVCodec>) {
        guard let pointer = unsafe avcodec_alloc_context3(codec) else { return nil }
        unsafe self.pointer = pointer
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVCodecContext>? = unsafe pointer
        unsafe avcodec_free_context(&pointer)
    }
}

/// Owns an AVFrame and its references to buffers.
@safe struct AVFrameHandle: ~Copyable {
    let pointer: UnsafeMutablePointer<AVFrame>

    /// av_frame_alloc; nil without memory.
    init?() {
        guard let pointer = unsafe av_frame_alloc() else { return nil }
        unsafe self.pointer = pointer
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVFrame>? = unsafe pointer
        unsafe av_frame_free(&pointer)
    }
}

/// Owns an AVPacket and its reference to a buffer.
@safe struct AVPacketHandle: ~Copyable {
    let pointer: UnsafeMutablePointer<AVPacket>

    /// av_packet_alloc; nil without memory.
    init?() {
        guard let pointer = unsafe av_packet_alloc() else { return nil }
        unsafe self.pointer = pointer
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVPacket>? = unsafe pointer
        unsafe av_packet_free(&pointer)
    }
}
