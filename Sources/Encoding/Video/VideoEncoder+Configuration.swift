internal import CLibAV
internal import MediaCore

extension VideoEncoder {
    /// The layout of the encoder's input: the configured one if the encoder supports it, else I420 before NV12.
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

    /// Sets the options that follow from the settings: those of all encoders, then those of one.
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
        // Nanoseconds, so that timestamps are exact. The encoder's rate control uses `framerate`.
        unsafe context.pointee.time_base = AVRational(num: 1, den: 1_000_000_000)

        let color = VideoColor(canvas.color)
        unsafe context.pointee.colorspace = color.space
        unsafe context.pointee.color_primaries = color.primaries
        unsafe context.pointee.color_trc = color.transfer
        unsafe context.pointee.color_range = color.range

        unsafe context.pointee.bit_rate = Int64(settings.bitrate)
        unsafe context.pointee.rc_max_rate = Int64(settings.bitrate)
        unsafe context.pointee.rc_buffer_size = Int32(settings.bitrate / 1000 * settings.vbvMilliseconds)
        // `KeyframeSchedule` requests keyframes by time. The frame count must not request earlier ones if frames come
        // fast.
        let gop = settings.keyframeInterval.nanoseconds / max(1, rate.frameDuration.nanoseconds) * 2
        unsafe context.pointee.gop_size = Int32(clamping: max(1, gop))
        unsafe context.pointee.max_b_frames = Int32(settings.bFrames)
        unsafe context.pointee.thread_count = Int32(settings.threads)
        // Slice threads add no delay; each frame thread adds a frame of delay.
        unsafe context.pointee.thread_type = FF_THREAD_SLICE
        unsafe context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER | upcast_AV_CODEC_FLAG_CLOSED_GOP

        unsafe context.pointee.profile = codec.profile(settings.profile)
        // A requested keyframe must be an IDR picture: players can start there, and later frames do not refer across
        // it.
        if encoder.hasOption("forced-idr") { try encoder.setOption("forced-idr", "1") }
        for (option, value) in [("preset", settings.openedPreset), ("tune", settings.tune)]
        where !value.isEmpty && encoder.hasOption(option) {
            try encoder.setOption(option, value)
        }
        if settings.isX264 { try configureX264(encoder, settings) }
    }
}
