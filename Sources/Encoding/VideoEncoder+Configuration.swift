internal import CLibAV
internal import MediaCore

extension VideoEncoder {
    /// What the encoder is given: what is asked for if it can be, else I420 before NV12.
    static func chromaLayout(
        of encoder: borrowing LibAVEncoder, _ settings: VideoEncoderSettings
    ) throws(EncodingError) -> VideoEncoderSettings.ChromaLayout {
        guard let formats = unsafe encoder.inputFormats(\.pix_fmts, end: AV_PIX_FMT_NONE) else {
            return settings.chromaLayout ?? .i420  // the driver decides when the encoder is opened
        }
        let wanted = settings.chromaLayout.map { [$0] } ?? [.i420, .nv12]
        for layout in wanted where formats.contains(pixelFormat(layout)) { return layout }
        let names = formats.map { format in
            unsafe av_get_pix_fmt_name(format).map { unsafe String(cString: $0) } ?? "unnamed"
        }
        throw .inputFormat(encoder: encoder.name, accepts: names)
    }

    static func pixelFormat(_ layout: VideoEncoderSettings.ChromaLayout) -> AVPixelFormat {
        switch layout {
        case .i420: AV_PIX_FMT_YUV420P
        case .nv12: AV_PIX_FMT_NV12
        }
    }

    /// What every encoder understands.
    static func configure(
        _ encoder: borrowing LibAVEncoder, _ codec: VideoCodec, _ settings: VideoEncoderSettings,
        pixelFormat: AVPixelFormat
    ) throws(EncodingError) {
        let context = unsafe encoder.context
        let (canvas, rate) = (settings.canvas, settings.canvas.frameRate)
        guard let numerator = Int32(exactly: rate.numerator), let denominator = Int32(exactly: rate.denominator) else {
            throw .invalidSetting("a frame rate of \(rate) cannot be written in 32 bits")
        }
        unsafe context.pointee.width = Int32(canvas.width)
        unsafe context.pointee.height = Int32(canvas.height)
        unsafe context.pointee.pix_fmt = pixelFormat
        unsafe context.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        unsafe context.pointee.framerate = AVRational(num: numerator, den: denominator)
        // Nanoseconds, so that times pass exactly; what the encoder thinks of time comes from `framerate`.
        unsafe context.pointee.time_base = AVRational(num: 1, den: 1_000_000_000)

        let color = VideoColor(canvas.color)
        unsafe context.pointee.colorspace = color.space
        unsafe context.pointee.color_primaries = color.primaries
        unsafe context.pointee.color_trc = color.transfer
        unsafe context.pointee.color_range = color.range

        unsafe context.pointee.bit_rate = Int64(settings.bitrate)
        unsafe context.pointee.rc_max_rate = Int64(settings.bitrate)
        unsafe context.pointee.rc_buffer_size = Int32(settings.bitrate / 1000 * settings.vbvMilliseconds)
        // `KeyframeSchedule` asks for keyframes in time; a count of frames must not ask earlier when frames come fast.
        let gop = settings.keyframeInterval.nanoseconds / max(1, rate.frameDuration.nanoseconds) * 2
        unsafe context.pointee.gop_size = Int32(clamping: max(1, gop))
        unsafe context.pointee.max_b_frames = Int32(settings.bFrames)
        unsafe context.pointee.thread_count = Int32(settings.threads)
        // Threads on slices add no delay; threads on frames delay by a frame each.
        unsafe context.pointee.thread_type = FF_THREAD_SLICE
        unsafe context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER | upcast_AV_CODEC_FLAG_CLOSED_GOP

        unsafe context.pointee.profile = codec.profile(settings.profile)
        // A keyframe on request must be one at which a player can begin, not one that later frames reach across.
        if encoder.hasOption("forced-idr") { try encoder.setOption("forced-idr", "1") }
        for (option, value) in [("preset", settings.openedPreset), ("tune", settings.tune)]
        where !value.isEmpty && encoder.hasOption(option) {
            try encoder.setOption(option, value)
        }
    }
}
