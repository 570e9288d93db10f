internal import CLibAV
internal import FLV
package import MediaCore

/// An AAC-LC encoder of libavcodec.
///
/// Owns the encoder and one block of samples. Used by one thread. Samples are 32-bit floating point, one plane a
/// channel, nominally -1 to 1; what is not finite is encoded as silence, because libavcodec refuses it.
///
/// **Encoder delay.** AAC decoders put out what they were given one block late: libavcodec's encoder says so in
/// `initial_padding` (1024 samples) and stamps its first packet, which holds only the run-up, 1024 samples before the
/// first sample. FLV cannot say either of the two, and its players play each packet's 1024 samples at the packet's
/// timestamp and trim nothing. So a packet's `pts` here is the time of the first sample that a decoder puts out for it,
/// and packets from before the first sample are not written: what is heard at a time is what was given for that time.
/// The price is that the first 21 ms of a broadcast fade in.
///
/// **Silence.** Where the encoder has been given nothing but zeros for some blocks, and made the same packet of them
/// twice, further blocks of zeros are not given to it: that packet is written again. The encoder then stands as it
/// would after them, its windows full of zeros, and what is encoded next begins as if it had had them all.
package final class AudioEncoder {
    package let format: AudioTrackFormat
    /// Samples a packet.
    package let frameLength: Int

    private let encoder: LibAVEncoder
    private let frame: AVFrameHandle
    private let channels: Int
    private let sampleRate: Int
    /// Samples in `frame` that wait for the rest.
    private var buffered = 0
    /// Samples given to the encoder: its clock.
    private var submitted: Int64 = 0
    private var times: AudioBlockTimes
    private var lastDTS: MediaTime?
    /// Packets of earlier ones are not written.
    private var epoch: CurtainEpoch = .first
    private var isFinished = false
    /// Blocks of zeros that were given to the encoder last, one behind the other.
    private var silentBlocks = 0
    /// The packet that came out last while everything in the encoder was silent, and how often it did in a row.
    private var silence: [UInt8] = []
    private var silencePackets = 0
    /// The first sample of the packet that comes out next.
    private var nextPacket: Int64?
    /// More blocks than the encoder holds, or looks back on.
    private static let blocksUntilSilent = 8
    /// Blocks of silence that were not encoded.
    package private(set) var blocksLeftOut = 0

    /// Bytes of anonymous memory that libavcodec's aac encoder and a block of samples hold, as measured (RssAnon).
    package static let estimatedBytes = 1_450_000

    /// How libavcodec's aac encoder looks for its quantizers. From 48 kbit/s a channel on the fast way is as near to
    /// the source as the thorough one (128 kbit/s stereo: noise 25.1 instead of 24.7 dB, plucked strings 54 instead of
    /// 61, a tone 129 instead of 89) at a third of its time, 10 instead of 30 ms for a second of sound; only pure tones
    /// take it longer, 45 instead of 25. Below, FFmpeg's documentation says, it is worse.
    private static func coder(_ settings: AudioEncoderSettings) -> String {
        settings.bitrate / settings.channels >= 48_000 ? "fast" : "twoloop"
    }

    /// - Throws: `EncodingError` that names the encoder, what it refused and what there is instead.
    package init(_ settings: AudioEncoderSettings) throws(EncodingError) {
        try settings.validate()
        let encoder = try LibAVEncoder(name: settings.encoder, codecIDs: [AV_CODEC_ID_AAC], codecNames: "AAC")
        let formats = unsafe encoder.inputFormats(\.sample_fmts, end: AV_SAMPLE_FMT_NONE) ?? [AV_SAMPLE_FMT_FLTP]
        guard formats.contains(AV_SAMPLE_FMT_FLTP) else {
            throw .inputFormat(encoder: settings.encoder, accepts: formats.map { format in
                unsafe av_get_sample_fmt_name(format).map { unsafe String(cString: $0) } ?? "unnamed"
            })
        }
        let context = unsafe encoder.context
        unsafe context.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
        unsafe context.pointee.sample_rate = Int32(settings.sampleRate)
        unsafe context.pointee.time_base = AVRational(num: 1, den: Int32(settings.sampleRate))
        unsafe context.pointee.bit_rate = Int64(settings.bitrate)
        unsafe context.pointee.profile = FF_PROFILE_AAC_LOW
        unsafe context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        unsafe av_channel_layout_default(&context.pointee.ch_layout, Int32(settings.channels))
        if encoder.hasOption("aac_coder") { try encoder.setOption("aac_coder", Self.coder(settings)) }
        try encoder.open()

        let extradata = encoder.extradata
        do throws(CodecConfigurationError) {
            let configuration = try AudioSpecificConfiguration(extradata)
            guard configuration.sampleRate == settings.sampleRate, configuration.channels == settings.channels else {
                throw .invalid(
                    "AAC at \(configuration.sampleRate) Hz with \(configuration.channels) channels")
            }
        } catch {
            throw .configuration(encoder: settings.encoder, error)
        }
        let length = unsafe context.pointee.frame_size
        guard length > 0, let frame = AVFrameHandle() else {
            throw .outOfMemory(encoder: settings.encoder)
        }
        unsafe frame.pointer.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        unsafe frame.pointer.pointee.sample_rate = Int32(settings.sampleRate)
        unsafe frame.pointer.pointee.nb_samples = length
        unsafe av_channel_layout_default(&frame.pointer.pointee.ch_layout, Int32(settings.channels))
        try check(unsafe av_frame_get_buffer(frame.pointer, 0), "allocating samples", encoder: settings.encoder)

        format = AudioTrackFormat(
            sampleRate: settings.sampleRate, channels: settings.channels, bitrate: settings.bitrate,
            audioSpecificConfig: extradata)
        frameLength = Int(length)
        channels = settings.channels
        sampleRate = settings.sampleRate
        times = AudioBlockTimes(sampleRate: settings.sampleRate)
        self.encoder = encoder
        self.frame = frame
    }

    /// Encodes samples; whole blocks of `frameLength` go to the encoder, the rest waits for the next call.
    ///
    /// - Parameters:
    ///   - channels: one pointer for each channel of the settings.
    ///   - frames: samples a channel, any number.
    ///   - time: when the first of them is heard. Calls are to follow each other without gaps, as a mixer's do: a
    ///     packet takes its time from the samples with which it begins, and its epoch.
    package func encode(
        channels planes: UnsafePointer<UnsafePointer<Float>>, frames: Int, time: MediaTime,
        epoch: CurtainEpoch = .first,
        into sink: any PacketSink
    ) throws(EncodingError) {
        guard !isFinished else { throw .finished(encoder: encoder.name) }
        var taken = 0
        while taken < frames {
            if buffered == 0 {
                let time = time + MediaTime(sample: Int64(taken), rate: sampleRate)
                let isSilent = unsafe frames - taken >= frameLength && isZero(planes, from: taken)
                silentBlocks = isSilent ? silentBlocks + 1 : 0
                if silentBlocks == 0 { silencePackets = 0 }
                if isSilent, leaveOut(at: time, epoch: epoch, into: sink) {
                    taken += frameLength
                    continue
                }
                try check(unsafe av_frame_make_writable(frame.pointer), "copying samples", encoder: encoder.name)
                times.insert(firstSample: submitted, time: time, epoch: epoch)
            }
            let count = min(frameLength - buffered, frames - taken)
            for channel in 0..<channels {
                unsafe copy(planes[channel] + taken, count: count, channel: channel)
            }
            buffered += count
            taken += count
            if buffered == frameLength { try submit(into: sink) }
        }
    }

    private func isZero(_ planes: UnsafePointer<UnsafePointer<Float>>, from start: Int) -> Bool {
        var bits: UInt32 = 0
        for channel in 0..<channels {
            let samples = unsafe planes[channel] + start
            for index in 0..<frameLength { bits |= unsafe samples[index].bitPattern }
        }
        // A zero may be negative.
        return bits & 0x7FFF_FFFF == 0
    }

    /// Writes the packet of silence in place of one that the encoder would make; false where it is not known yet.
    private func leaveOut(at time: MediaTime, epoch: CurtainEpoch, into sink: any PacketSink) -> Bool {
        guard silencePackets >= 2, let nextPacket, let (due, dueEpoch) = times.time(of: nextPacket),
            times.moveUp(from: nextPacket, to: submitted, length: frameLength, adding: time, epoch: epoch)
        else { return false }
        blocksLeftOut += 1
        unsafe silence.withUnsafeBytes { unsafe write($0.bytes, at: due, epoch: dueEpoch, into: sink) }
        return true
    }

    /// For a stream whose end was taken back: packets that begin with samples of earlier epochs are not written any
    /// more, and what is encoded next may be heard at any time after `time`.
    package func goBack(to time: MediaTime?, epoch: CurtainEpoch) {
        self.epoch = epoch
        if let time, let last = lastDTS, time < last { lastDTS = time }
    }

    /// Encodes what waits, padded with silence, and drains the encoder. Nothing can be encoded afterwards.
    package func finish(into sink: any PacketSink) throws(EncodingError) {
        guard !isFinished else { return }
        isFinished = true
        if buffered > 0 { try submit(into: sink) }
        try unsafe encoder.send(nil)
        try drain(into: sink)
    }

    private func copy(_ source: UnsafePointer<Float>, count: Int, channel: Int) {
        guard let plane = unsafe frame.pointer.pointee.extended_data[channel] else { return }
        let target = unsafe UnsafeMutableRawPointer(plane).assumingMemoryBound(to: Float.self) + buffered
        for index in 0..<count {
            let sample = unsafe source[index]
            unsafe target[index] = sample.isFinite ? sample : 0
        }
    }

    private func submit(into sink: any PacketSink) throws(EncodingError) {
        unsafe frame.pointer.pointee.nb_samples = Int32(buffered)
        unsafe frame.pointer.pointee.pts = submitted
        submitted += Int64(buffered)
        buffered = 0
        try unsafe encoder.send(frame.pointer)
        try drain(into: sink)
    }

    private func drain(into sink: any PacketSink) throws(EncodingError) {
        while try encoder.receive() {
            let packet = unsafe encoder.packet
            guard let data = unsafe packet.pointee.data else { continue }
            let payload = unsafe UnsafeRawBufferPointer(start: data, count: Int(packet.pointee.size))
            nextPacket = unsafe packet.pointee.pts + Int64(frameLength)
            if silentBlocks >= Self.blocksUntilSilent { unsafe noteSilence(payload) }
            // Nil for the run-up before the first sample.
            guard let (time, epoch) = unsafe times.time(of: packet.pointee.pts) else { continue }
            unsafe write(payload.bytes, at: time, epoch: epoch, into: sink)
        }
    }

    private func noteSilence(_ packet: UnsafeRawBufferPointer) {
        if unsafe packet.elementsEqual(silence) {
            silencePackets += 1
        } else {
            silence.removeAll(keepingCapacity: true)
            unsafe silence.append(contentsOf: packet)
            silencePackets = 1
        }
    }

    private func write(_ payload: RawSpan, at time: MediaTime, epoch: CurtainEpoch, into sink: any PacketSink) {
        guard epoch >= self.epoch else { return }
        // Times that the caller set back would go back on the wire; within a track they must rise.
        var dts = time
        if let lastDTS, dts <= lastDTS { dts = MediaTime(nanoseconds: lastDTS.nanoseconds + 1) }
        lastDTS = dts
        sink.write(PacketInfo(track: .audio, pts: dts, dts: dts, priority: .audio, epoch: epoch), payload: payload)
    }
}
