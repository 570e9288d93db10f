internal import CLibAV
internal import FLV
package import MediaCore

/// An AAC-LC encoder of libavcodec.
///
/// Owns the encoder and one block of samples. Used by one thread. Samples are 32-bit floating point, one plane for each
/// channel, nominally -1 to 1. Samples that are not finite are encoded as silence, because libavcodec refuses them.
///
/// **Encoder delay.** AAC decoders output each block one block late. libavcodec's encoder reports this in
/// `initial_padding` (1024 samples). Its first packet holds only padding, and its timestamp is 1024 samples before the
/// first sample. FLV can express neither, and its players play each packet's 1024 samples at the packet's timestamp and
/// trim nothing. Therefore a packet's `pts` here is the time of the first sample that a decoder outputs for it, and
/// packets from before the first sample are not written. Viewers then hear each sample at its own time. The cost is
/// that the first 21 ms of a broadcast fade in.
///
/// **Silence.** If the encoder got only zeros for some blocks, and output the same packet twice, further blocks of
/// zeros are not encoded: the same packet is written again. The encoder's windows are full of zeros in both cases, so
/// that later blocks are encoded as if all zeros had been encoded.
package final class AudioEncoder {
    package let format: AudioTrackFormat
    /// Samples in a packet.
    package let frameLength: Int

    private let encoder: LibAVEncoder
    private let frame: AVFrameHandle
    private let channels: Int
    private let sampleRate: Int
    /// Samples in `frame`, which waits to be full.
    private var buffered = 0
    /// The number of samples sent to the encoder, which is its clock.
    private var submitted: Int64 = 0
    private var times: AudioBlockTimes
    private var lastDTS: MediaTime?
    /// Packets of earlier epochs are not written.
    private var epoch: CurtainEpoch = .first
    private var isFinished = false
    /// The latest blocks of zeros in a row, encoded or not.
    private var silentBlocks = 0
    /// The last packet that came out while the encoder held only silence, and how often it came in a row.
    private var silence: [UInt8] = []
    private var silencePackets = 0
    /// The first sample of the next packet.
    private var nextPacket: Int64?
    /// More blocks than the encoder holds or refers to.
    private static let blocksUntilSilent = 8
    /// Blocks of silence that were not encoded.
    package private(set) var blocksLeftOut = 0

    /// Anonymous memory of libavcodec's aac encoder and a block of samples, in bytes, as measured (RssAnon).
    package static let estimatedBytes = 1_450_000

    /// The quantizer search of libavcodec's aac encoder. From 48 kbit/s for each channel, "fast" is about as close to
    /// the source as "twoloop", at a third of its time; only pure tones take it longer. Below, FFmpeg's documentation
    /// says that "fast" is worse. Measured as fast/twoloop, at 128 kbit/s stereo: 25.1/24.7 dB for noise, 54/61 dB for
    /// plucked strings, 129/89 dB for a tone. A second of sound takes 10/30 ms, of pure tones 45/25 ms.
    private static func coder(_ settings: AudioEncoderSettings) -> String {
        settings.bitrate / settings.channels >= 48_000 ? "fast" : "twoloop"
    }

    /// - Throws: an `EncodingError` that names the encoder, the refused setting and the alternatives.
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

    /// Encodes samples. Whole blocks of `frameLength` go to the encoder; the rest waits for the next call.
    ///
    /// - Parameters:
    ///   - channels: one pointer for each channel of the settings.
    ///   - frames: the number of samples in each channel.
    ///   - time: when the first sample is heard. Calls must follow each other without gaps, like a mixer's output: a
    ///     packet takes its time and epoch from its first samples.
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
        // Ignores the sign bit, because a zero may be negative.
        return bits & 0x7FFF_FFFF == 0
    }

    /// Writes the packet of silence without encoding; false if that packet is not known yet.
    private func leaveOut(at time: MediaTime, epoch: CurtainEpoch, into sink: any PacketSink) -> Bool {
        guard silencePackets >= 2, let nextPacket, let (due, dueEpoch) = times.time(of: nextPacket),
            times.moveUp(from: nextPacket, to: submitted, length: frameLength, adding: time, epoch: epoch)
        else { return false }
        blocksLeftOut += 1
        unsafe silence.withUnsafeBytes { unsafe write($0.bytes, at: due, epoch: dueEpoch, into: sink) }
        return true
    }

    /// Continues a stream whose end was taken back. Packets that begin with samples of earlier epochs are not written
    /// any more, and the next samples may be heard at any time after `time`.
    package func goBack(to time: MediaTime?, epoch: CurtainEpoch) {
        self.epoch = epoch
        if let time, let last = lastDTS, time < last { lastDTS = time }
    }

    /// Encodes the incomplete block with silence after it, and drains the encoder. Nothing can be encoded afterwards.
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
            // Nil for the padding before the first sample.
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
        // If the caller sets times back, decode times must still rise within the track.
        var dts = time
        if let lastDTS, dts <= lastDTS { dts = MediaTime(nanoseconds: lastDTS.nanoseconds + 1) }
        lastDTS = dts
        sink.write(PacketInfo(track: .audio, pts: dts, dts: dts, priority: .audio, epoch: epoch), payload: payload)
    }
}
