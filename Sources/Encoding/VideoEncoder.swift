internal import CLibAV
internal import FLV
package import MediaCore

/// A video encoder of libavcodec; its name says the codec.
///
/// Owns the encoder and a scratch buffer; its memory does not grow after the first keyframes. Used by one thread.
/// `encode` encodes a picture and writes packets to a sink before it returns; with B-frames or a hardware encoder,
/// packets come some frames later.
///
/// Timestamps pass exactly: libavcodec is given nanoseconds. libx264 is run at a constant frame rate, which costs no
/// frame of delay, with its bitrate scaled to the time that really passes (`FramePacing`); it then delivers the bitrate
/// at any spacing of frames. After an error the encoder is in no known state; make a new one.
package final class VideoEncoder {
    package let format: VideoTrackFormat

    private let settings: VideoEncoderSettings
    private let encoder: LibAVEncoder
    /// For encoders that hold on to frames or take nothing but NV12. libx264 copies what it is given at once.
    private let copy: InputFrame?
    /// The frames that lend the memory of the pictures that have come: there are a few, again and again.
    private var lent: [InputFrame] = []
    private static let lentCount = 4
    /// libx264 follows a bitrate that changes from frame to frame (reconfig_encoder in libx264.c).
    private let isPaced: Bool

    private var bitrate: Int
    private var pacing: FramePacing
    private var keyframes: KeyframeSchedule
    private var pending = PendingFrames()
    private var scratch: [UInt8] = []
    private var lastPTS: MediaTime?
    private var lastDTS: MediaTime?
    /// How far the encoder's time is ahead of the broadcast's, which may go back.
    private var ahead = MediaTime.zero
    /// Frames of earlier ones are not written.
    private var epoch: CurtainEpoch = .first
    private var isFinished = false
    /// Frames that went in and have not come out.
    private var framesInside = 0

    /// What an encoder needs to know to go on with another's stream.
    package struct Continuation: Sendable {
        fileprivate var bitrate: Int
        fileprivate var lastPTS: MediaTime?
        fileprivate var lastDTS: MediaTime?
        fileprivate var epoch: CurtainEpoch
    }

    /// Opens the encoder.
    ///
    /// - Parameter continuation: of the encoder whose stream it goes on with, beginning with a keyframe.
    /// - Throws: `EncodingError` that names the encoder, what it refused and what there is instead.
    package init(
        _ settings: VideoEncoderSettings, continuing continuation: Continuation? = nil
    ) throws(EncodingError) {
        try settings.validate()
        let encoder = try LibAVEncoder(videoEncoder: settings.encoder)
        guard let codec = VideoCodec(encoder.codecID) else { preconditionFailure("it was looked for by codec") }
        let layout = try Self.chromaLayout(of: encoder, settings)
        try Self.configure(encoder, codec, settings, pixelFormat: Self.pixelFormat(layout))
        if settings.isX264 { try Self.configureX264(encoder, settings) }
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

    /// For the encoder that takes this one's place, once this one is finished.
    package var continuation: Continuation {
        Continuation(bitrate: bitrate, lastPTS: lastPTS, lastDTS: lastDTS, epoch: epoch)
    }

    /// Whether the stream ends with a keyframe, or will when what the encoder holds has come out. The first of another
    /// encoder must not follow it: two keyframes in a row have to differ in their number (idr_pic_id), and each encoder
    /// begins with the same.
    package var endsWithKeyframe: Bool { holdsFrames ? newestIsKeyframe : lastWasKeyframe }
    /// Of the packets that came out, and of the frames that went in.
    private var lastWasKeyframe = false
    private var newestIsKeyframe = false

    /// Whether a frame for `pts` becomes a keyframe without being asked.
    package func isKeyframeDue(at pts: MediaTime) -> Bool { keyframes.isDue(at: pts + ahead) }

    /// What the encoder holds comes out only as more goes in: it looks ahead, or has B-frames.
    package var holdsFrames: Bool { framesInside > 0 }

    /// True where pictures are copied before they are encoded.
    static func copies(_ settings: VideoEncoderSettings, _ layout: VideoEncoderSettings.ChromaLayout?) -> Bool {
        !settings.isX264 || layout == .nv12
    }

    /// Encodes a picture, as a keyframe where one is asked for or due. It is not read any more after this.
    ///
    /// - Parameters:
    ///   - picture: I420 of the canvas's size, best in the memory of one of the last four.
    ///   - pts: later than the last frame's.
    ///   - arrival: goes into the `PacketInfo` of this frame's packet, as does `epoch`.
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

    /// For a stream whose end was taken back: frames of earlier epochs that the encoder still holds are not written any
    /// more, and the next one, which has to be a keyframe, may be shown at any time after `time`.
    package func goBack(to time: MediaTime?, epoch: CurtainEpoch) {
        self.epoch = epoch
        guard let time, let last = lastPTS, time < last else { return }
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

    /// Drains the encoder: what it still holds is written to `sink`. Nothing can be encoded afterwards.
    package func finish(into sink: any PacketSink) throws(EncodingError) {
        guard !isFinished else { return }
        isFinished = true
        try unsafe encoder.send(nil)
        try drain(into: sink)
    }

    /// Changes the bitrate, and the VBV with it, from the next frame on.
    ///
    /// libx264 and h264_nvenc follow on the running encoder; of others libavcodec takes no notice.
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
        // What is not known may be of any.
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
        // x264 that was opened with a maximum at the bitrate keeps the two equal ever after, whatever the maximum says
        // (b_vbv_min_rate). One that always lies above spares a second reconfiguration, and the warning that the
        // maximum is below the average, for each change.
        unsafe context.pointee.rc_max_rate = Int64(Int32.max)
    }
}
