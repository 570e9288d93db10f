internal import CLibAV
internal import FLV
package import MediaCore

/// A video encoder of libavcodec; its name determines the codec.
///
/// Owns the encoder and a scratch buffer. Its memory does not grow after the first keyframes. Used by one thread.
/// `encode` writes packets to a sink before it returns. With B-frames or a hardware encoder, packets come some frames
/// later.
///
/// Timestamps are exact, because libavcodec gets nanoseconds. libx264 runs at a constant frame rate, which adds no
/// frame of delay. Its bitrate is scaled to the time between frames (`FramePacing`), so that it keeps the bitrate at
/// any spacing of frames. After an error the encoder's state is undefined; make a new one.
package final class VideoEncoder {
    package let format: VideoTrackFormat

    private let settings: VideoEncoderSettings
    private let encoder: LibAVEncoder
    /// For encoders that keep frames or need NV12; nil for libx264, which copies its input at once.
    private let copy: InputFrame?
    /// Frames that refer to the memory of recent pictures, of which the caller uses a few in turn.
    private var lent: [InputFrame] = []
    private static let lentCount = 4
    /// Whether the bitrate may change with each frame, as with libx264 (reconfig_encoder in libx264.c).
    private let isPaced: Bool

    private var bitrate: Int
    private var pacing: FramePacing
    private var keyframes: KeyframeSchedule
    private var pending = PendingFrames()
    private var scratch: [UInt8] = []
    private var lastPTS: MediaTime?
    private var lastDTS: MediaTime?
    /// How far the encoder's time is ahead of the broadcast's, which a take-back sets back.
    private var ahead = MediaTime.zero
    /// Packets of earlier epochs are not written.
    private var epoch: CurtainEpoch = .first
    private var isFinished = false
    /// Frames that were sent and have not come out.
    private var framesInside = 0

    /// The state with which another encoder continues the stream.
    package struct Continuation: Sendable {
        fileprivate var bitrate: Int
        fileprivate var lastPTS: MediaTime?
        fileprivate var lastDTS: MediaTime?
        fileprivate var epoch: CurtainEpoch
    }

    /// Opens the encoder.
    ///
    /// - Parameter continuation: the state of the previous encoder of the stream. The new encoder begins with a
    ///   keyframe.
    /// - Throws: an `EncodingError` that names the encoder, the refused setting and the alternatives.
    package init(
        _ settings: VideoEncoderSettings, continuing continuation: Continuation? = nil
    ) throws(EncodingError) {
        try settings.validate()
        let encoder = try LibAVEncoder(videoEncoder: settings.encoder)
        guard let codec = VideoCodec(encoder.codecID) else { preconditionFailure("it was looked for by codec") }
        let layout = try Self.chromaLayout(of: encoder, settings)
        try Self.configure(encoder, codec, settings, pixelFormat: Self.pixelFormat(layout))
        for option in settings.options { try Self.set(option, of: settings, on: encoder) }
        try encoder.open { settings.isX264 ? Self.refusal(in: $0, of: settings) : nil }
        if Self.copies(settings, layout) {
            copy = try InputFrame(
                copyingTo: Self.pixelFormat(layout), settings.canvas, encoder: settings.encoder)
        } else {
            copy = nil
        }
        let configuration: [UInt8]
        do {
            configuration = try codec.decoderConfiguration(extradata: encoder.extradata)
        } catch {
            throw .configuration(encoder: settings.encoder, error)
        }
        format = VideoTrackFormat(
            codec: codec, width: settings.canvas.width, height: settings.canvas.height,
            frameRate: settings.canvas.frameRate, bitrate: settings.bitrate, decoderConfiguration: configuration,
            encoderName: settings.encoder)
        let frameDuration = settings.canvas.frameRate.frameDuration
        pacing = FramePacing(frameDuration: frameDuration, vbv: .milliseconds(Int64(settings.vbvMilliseconds)))
        keyframes = KeyframeSchedule(interval: settings.keyframeInterval, frameDuration: frameDuration)
        bitrate = continuation?.bitrate ?? settings.bitrate
        lastPTS = continuation?.lastPTS
        lastDTS = continuation?.lastDTS
        epoch = continuation?.epoch ?? 0
        isPaced = settings.isX264
        self.settings = settings
        self.encoder = encoder
        if isPaced || continuation != nil { applyBitrate() }
    }

    /// For the encoder that replaces this one. Read it after `finish`.
    package var continuation: Continuation {
        Continuation(bitrate: bitrate, lastPTS: lastPTS, lastDTS: lastDTS, epoch: epoch)
    }

    /// Whether the stream ends with a keyframe, including frames that the encoder still holds. If so, another encoder
    /// must not begin now: two keyframes in a row must differ in idr_pic_id, and every encoder begins with the same.
    package var endsWithKeyframe: Bool { holdsFrames ? newestIsKeyframe : lastWasKeyframe }
    /// Whether the last packet that came out, and the last frame that went in, is a keyframe.
    private var lastWasKeyframe = false
    private var newestIsKeyframe = false

    /// Whether a frame at `pts` becomes a keyframe without a request.
    package func isKeyframeDue(at pts: MediaTime) -> Bool { keyframes.isDue(at: pts + ahead) }

    /// Whether the encoder holds frames, which come out only as more go in: with lookahead or B-frames.
    package var holdsFrames: Bool { framesInside > 0 }

    /// Whether pictures are copied before they are encoded.
    static func copies(_ settings: VideoEncoderSettings, _ layout: VideoEncoderSettings.ChromaLayout?) -> Bool {
        !settings.isX264 || layout == .nv12
    }

    /// Encodes a picture, as a keyframe if one is requested or due. The encoder does not read it after this returns.
    ///
    /// - Parameters:
    ///   - picture: I420 of the canvas's size, preferably in the memory of one of the last four.
    ///   - pts: later than the last frame's.
    ///   - arrival: copied to the `PacketInfo` of this frame, as `epoch` is.
    package func encode(
        _ picture: PicturePlanes, pts: MediaTime, forceKeyframe: Bool, arrival: MediaTime, epoch: CurtainEpoch = .first,
        into sink: any PacketSink
    ) throws(EncodingError) {
        guard !isFinished else { throw .finished(encoder: encoder.name) }
        precondition(
            picture.width == settings.canvas.width && picture.height == settings.canvas.height,
            "the picture is not of the canvas's size")
        if let lastPTS, pts <= lastPTS { throw .timeDidNotRise(pts, after: lastPTS) }
        lastPTS = pts
        let time = pts + ahead
        if isPaced, pacing.advance(to: time) { applyBitrate() }
        pending.insert(.init(time: time, pts: pts, arrival: arrival, epoch: epoch))
        let isKeyframe = keyframes.mustForce(at: time, requested: forceKeyframe)
        let frame = unsafe try input(picture).frame
        unsafe frame.pointee.pts = time.nanoseconds
        unsafe frame.pointee.pict_type = isKeyframe ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        try unsafe encoder.send(frame)
        newestIsKeyframe = isKeyframe
        framesInside += 1
        try drain(into: sink)
    }

    /// Continues a stream whose end was taken back. Frames of earlier epochs that the encoder still holds are not
    /// written. The next frame must be a keyframe, and may have any time after `time`.
    package func goBack(to time: MediaTime?, epoch: CurtainEpoch) {
        self.epoch = epoch
        guard let time, let last = lastPTS, time < last else { return }
        // The packet that is now the stream's last may be a keyframe.
        (lastWasKeyframe, newestIsKeyframe) = (true, true)
        ahead += last - time
        lastPTS = time
        lastDTS = time
    }

    private func input(_ picture: PicturePlanes) throws(EncodingError) -> InputFrame {
        if let copy {
            try copy.copy(picture)
            return copy
        }
        if let known = lent.first(where: { $0.lends(picture) }) { return known }
        if lent.count == Self.lentCount { lent.removeFirst() }
        let new = try InputFrame(lending: picture, settings.canvas, encoder: encoder.name)
        lent.append(new)
        return new
    }

    /// Drains the encoder into `sink`. Nothing can be encoded afterwards.
    package func finish(into sink: any PacketSink) throws(EncodingError) {
        guard !isFinished else { return }
        isFinished = true
        try unsafe encoder.send(nil)
        try drain(into: sink)
    }

    /// Changes bitrate and VBV from the next frame on.
    ///
    /// libx264 and h264_nvenc apply it while they run; libavcodec ignores it for other encoders.
    package func setBitrate(_ bitsPerSecond: Int) throws(EncodingError) {
        try VideoEncoderSettings.validate(bitrate: bitsPerSecond)
        bitrate = bitsPerSecond
        applyBitrate()
    }

    // MARK: Packets

    private func drain(into sink: any PacketSink) throws(EncodingError) {
        while try encoder.receive() {
            framesInside -= 1
            write(to: sink)
        }
    }

    private func write(to sink: any PacketSink) {
        let packet = unsafe encoder.packet
        guard let data = unsafe packet.pointee.data else { return }
        let size = unsafe Int(packet.pointee.size)
        let needed = NALUnits.maximumLengthPrefixedBytes(annexBBytes: size)
        if scratch.count < needed { scratch = [UInt8](repeating: 0, count: needed * 2) }
        let written = unsafe scratch.withUnsafeMutableBytes { target in
            let source = unsafe UnsafeRawBufferPointer(start: data, count: size).bytes
            return unsafe NALUnits.lengthPrefixed(annexB: source, codec: format.codec, into: target) ?? 0
        }
        guard written > 0 else { return }
        let converted = scratch
        let payload = unsafe converted.span.bytes.extracting(0..<written)

        let flags = unsafe packet.pointee.flags
        let time = unsafe MediaTime(nanoseconds: packet.pointee.pts)
        let known = pending[time]
        // A frame that is not stored any more may belong to any epoch.
        guard known?.epoch ?? 0 >= epoch else { return }
        let pts = known?.pts ?? time - ahead
        let decodeTime = unsafe MediaTime(nanoseconds: packet.pointee.dts)
        var dts = decodeTime.nanoseconds == upcast_AV_NOPTS_VALUE ? pts : pts - (time - decodeTime)
        let delay = max(.zero, (lastPTS ?? pts) - dts)
        if let lastDTS, dts <= lastDTS { dts = MediaTime(nanoseconds: lastDTS.nanoseconds + 1) }
        lastDTS = dts
        let priority: PacketPriority
        lastWasKeyframe = flags & AV_PKT_FLAG_KEY != 0
        if lastWasKeyframe {
            priority = .keyframe
            keyframes.noteKeyframe(at: time)
        } else if flags & AV_PKT_FLAG_DISPOSABLE != 0 || NALUnits.isDisposable(payload, codec: format.codec) {
            priority = .disposable
        } else {
            priority = .reference
        }
        sink.write(
            PacketInfo(
                track: .video, pts: pts, dts: dts, priority: priority, arrival: known?.arrival ?? .zero,
                epoch: known?.epoch ?? 0, encoderDelay: delay),
            payload: payload)
    }

    // MARK: Bitrate

    private func applyBitrate() {
        let context = unsafe encoder.context
        unsafe context.pointee.rc_buffer_size = Int32(bitrate / 1000 * settings.vbvMilliseconds)
        guard isPaced else {
            unsafe context.pointee.bit_rate = Int64(bitrate)
            unsafe context.pointee.rc_max_rate = Int64(bitrate)
            return
        }
        unsafe context.pointee.bit_rate = Int64(pacing.scaled(bitrate))
        // If x264 is opened with a maximum equal to the bitrate, it keeps both equal (b_vbv_min_rate). A maximum that
        // is always higher avoids a second reconfiguration, and a warning that the maximum is below the average, for
        // each change.
        unsafe context.pointee.rc_max_rate = Int64(Int32.max)
    }
}
