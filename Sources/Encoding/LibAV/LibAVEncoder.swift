internal import CLibAV

/// A libavcodec encoder and its output packet: the common part of video and audio encoders.
///
/// Used by one thread. Configure `context`, set options and call `open`, then alternate `send` and `receive`.
@safe struct LibAVEncoder: ~Copyable {
    let name: String
    private let codec: UnsafePointer<AVCodec>
    private let handle: AVCodecContextHandle
    private let packetHandle: AVPacketHandle

    var context: UnsafeMutablePointer<AVCodecContext> { unsafe handle.pointer }
    /// The output of `receive`; valid until the next `receive`.
    var packet: UnsafeMutablePointer<AVPacket> { unsafe packetHandle.pointer }

    /// Finds an encoder by its libavcodec name.
    ///
    /// - Parameters:
    ///   - codecIDs: the encoder must encode one of them.
    ///   - codecNames: their names, for errors.
    init(name: String, codecIDs: [AVCodecID], codecNames: String) throws(EncodingError) {
        guard let codec = unsafe avcodec_find_encoder_by_name(name) else {
            throw .encoderNotFound(name, available: Self.names(of: codecIDs))
        }
        guard unsafe codecIDs.contains(codec.pointee.id) else {
            throw .wrongCodec(encoder: name, codec: codecNames, available: Self.names(of: codecIDs))
        }
        guard let handle = unsafe AVCodecContextHandle(codec), let packetHandle = AVPacketHandle() else {
            throw .outOfMemory(encoder: name)
        }
        self.name = name
        unsafe self.codec = unsafe codec
        self.handle = handle
        self.packetHandle = packetHandle
    }

    var codecID: AVCodecID { unsafe codec.pointee.id }

    /// The formats of a libavcodec list that ends with `end`, such as `pix_fmts`; nil if the encoder has no list.
    func inputFormats<Format>(
        _ list: KeyPath<AVCodec, UnsafePointer<Format>?>, end: Format
    ) -> [Format]? where Format: Equatable {
        guard var next = unsafe codec.pointee[keyPath: list] else { return nil }
        var formats: [Format] = []
        while unsafe next.pointee != end {
            unsafe formats.append(next.pointee)
            unsafe next += 1
        }
        return formats
    }

    /// Whether this encoder or libavcodec in general has an option of that name.
    func hasOption(_ option: String) -> Bool {
        unsafe av_opt_find(context, option, nil, 0, AV_OPT_SEARCH_CHILDREN) != nil
    }

    /// Sets an option of the encoder or of libavcodec by name (av_opt_set). Call it before `open`.
    func setOption(_ option: String, _ value: String) throws(EncodingError) {
        let code = unsafe av_opt_set(context, option, value, AV_OPT_SEARCH_CHILDREN)
        guard code < 0 else { return }
        throw .option(encoder: name, name: option, value: value, reason: libavText(of: code))
    }

    /// Opens the encoder (avcodec_open2).
    ///
    /// - Parameter refusal: makes an error from messages that libavcodec logged meanwhile, if they say more than its
    ///   code.
    func open(_ refusal: ([String]) -> EncodingError? = { _ in nil }) throws(EncodingError) {
        let (code, messages) = LibAVLog.collecting { unsafe avcodec_open2(context, codec, nil) }
        if let error = refusal(messages) { throw error }
        try check(code, "opening", encoder: name)
    }

    /// The encoder's configuration (extradata) after `open`.
    var extradata: [UInt8] {
        guard let data = unsafe context.pointee.extradata else { return [] }
        return unsafe [UInt8](UnsafeBufferPointer(start: data, count: Int(context.pointee.extradata_size)))
    }

    /// Sends a frame to the encoder, or nil to drain it (avcodec_send_frame).
    ///
    /// The encoder is always emptied after a frame, so it never returns EAGAIN.
    func send(_ frame: UnsafeMutablePointer<AVFrame>?) throws(EncodingError) {
        try check(unsafe avcodec_send_frame(context, frame), "encoding", encoder: name)
    }

    /// Receives the next packet (avcodec_receive_packet). Returns false if there is none.
    func receive() throws(EncodingError) -> Bool {
        let code = unsafe avcodec_receive_packet(context, packet)
        if code == upcast_AVERROR_EAGAIN || code == upcast_AVERROR_EOF { return false }
        try check(code, "encoding", encoder: name)
        return true
    }

    private static func names(of codecIDs: [AVCodecID]) -> [String] {
        var names: [String] = []
        var state: UnsafeMutableRawPointer?
        while let codec = unsafe av_codec_iterate(&state) {
            if unsafe codecIDs.contains(codec.pointee.id), unsafe av_codec_is_encoder(codec) != 0 {
                unsafe names.append(String(cString: codec.pointee.name))
            }
        }
        return names.sorted()
    }
}
