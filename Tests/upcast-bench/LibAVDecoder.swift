internal import ArgumentParser
internal import CLibAV

/// libavcodec's decoder of PCM, which is what ffmpeg puts in front of libswresample: swaps bytes, and makes 32 bits of
/// 24. One packet, again and again.
@safe final class LibAVDecoder /* every pointer is private and freed once */ {
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var frame: UnsafeMutablePointer<AVFrame>?

    init(_ name: String, channels: Int, payload: UnsafeRawBufferPointer) throws {
        guard let decoder = unsafe avcodec_find_decoder_by_name(name) else {
            throw ValidationError("libavcodec has no decoder \(name)")
        }
        unsafe context = avcodec_alloc_context3(decoder)
        unsafe packet = av_packet_alloc()
        unsafe frame = av_frame_alloc()
        guard let context = unsafe context, let packet = unsafe packet, unsafe frame != nil else {
            throw ValidationError("out of memory")
        }
        unsafe av_channel_layout_default(&context.pointee.ch_layout, Int32(channels))
        unsafe context.pointee.sample_rate = 48_000
        // A packet with a reference is not copied when it is sent.
        guard unsafe avcodec_open2(context, decoder, nil) == 0,
            unsafe av_new_packet(packet, Int32(payload.count)) == 0, let data = unsafe packet.pointee.data
        else { throw ValidationError("libavcodec cannot open \(name)") }
        unsafe UnsafeMutableRawPointer(data).copyMemory(from: payload.baseAddress!, byteCount: payload.count)
    }

    deinit {
        unsafe av_frame_free(&frame)
        unsafe av_packet_free(&packet)
        unsafe avcodec_free_context(&context)
    }

    /// Decodes the packet; the samples lie there until the next call.
    func decode() throws -> UnsafePointer<UInt8> {
        guard unsafe avcodec_send_packet(context, packet) == 0, unsafe avcodec_receive_frame(context, frame) == 0,
            let samples = unsafe frame?.pointee.extended_data[0]
        else { throw ValidationError("libavcodec does not decode") }
        return unsafe UnsafePointer(samples)
    }
}
