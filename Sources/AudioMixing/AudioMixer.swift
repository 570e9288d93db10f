internal import Glibc
package import MediaCore

/// App audio and microphone, in whatever form they come, to one stream of equal blocks without gaps.
///
/// Block n covers frames n * `frameLength` to (n + 1) * `frameLength` of the broadcast, counted from its time zero:
/// what the sources have put there, times their gains, below the limiter's ceiling; silence where there is nothing.
/// Samples lie where their times say, so a jump of the timeline needs no word to the mixer. A block is due when it has
/// ended and the latency has passed, which adapts to how late the sources come; at the start it is long enough for a
/// burst of half a second, until the sources that are expected have shown how late they are. The first 5 ms, the
/// limiter's look-ahead, are silent.
///
/// Owns every buffer from `init` on; a new sample rate of a source replaces its resampler, nothing else allocates.
/// Audio thread only.
package final class AudioMixer {
    /// Room in the rings beyond the latency: a second's block may begin at the broadcast clock.
    private static let ringSecondsAhead = 1

    package let settings: AudioMixerSettings
    private let app: SourceLane
    private let microphone: SourceLane
    private var limiter: PeakLimiter
    private var latency: MixingLatency
    /// Sources that are expected and have not been heard.
    private var awaited: Set<AudioSource>
    /// First frame of the next block.
    private var position: Int64 = 0
    private var blocks = 0
    private var silentBlocks = 0

    /// Fails when the settings are outside what their documentation allows.
    package init(settings: AudioMixerSettings = .init()) throws(AudioMixingError) {
        try settings.check()
        self.settings = settings
        let ring = Self.ringFrames(settings)
        let lookahead = Int64(PeakLimiter.lookahead(sampleRate: settings.sampleRate))
        app = SourceLane(
            rate: settings.sampleRate, channels: settings.channels, ringFrames: ring, start: lookahead)
        microphone = SourceLane(
            rate: settings.sampleRate, channels: settings.channels, ringFrames: ring, start: lookahead)
        limiter = PeakLimiter(
            sampleRate: settings.sampleRate, channels: settings.channels,
            ceiling: Self.linear(decibels: settings.limiterCeiling), blockFrames: settings.frameLength)
        latency = MixingLatency(
            minimum: settings.minimumLatency, maximum: settings.maximumLatency,
            isStarting: !settings.expectedSources.isEmpty)
        awaited = settings.expectedSources
    }

    /// Bytes that a mixer with these settings allocates, resamplers included, for the worst of formats.
    package static func memoryBytes(_ settings: AudioMixerSettings) -> Int {
        2 * SourceLane.memoryBytes(
            rate: settings.sampleRate, channels: settings.channels, ringFrames: ringFrames(settings))
            + PeakLimiter.memoryBytes(
                sampleRate: settings.sampleRate, channels: settings.channels, blockFrames: settings.frameLength)
    }

    private static func ringFrames(_ settings: AudioMixerSettings) -> Int {
        Int(settings.maximumLatency.sampleIndex(rate: settings.sampleRate))
            + ringSecondsAhead * settings.sampleRate + settings.frameLength
            + PeakLimiter.lookahead(sampleRate: settings.sampleRate)
    }

    // MARK: In

    /// Places one source's PCM.
    ///
    /// Blocks of a source follow on as long as their times are near where the last ended; PTS jitter and clock drift
    /// are absorbed. What comes after its place has been rendered, or lies further ahead than the ring, is dropped and
    /// counted. On an error the block is dropped, and the mixer takes the next.
    ///
    /// - Parameters:
    ///   - payload: whole frames; planar formats one plane behind another. Valid during the call only, any alignment.
    ///   - time: broadcast time of the first sample; what lies before zero is cut.
    ///   - broadcastNow: where the broadcast clock stands.
    package func submit(
        _ source: AudioSource, format: AudioFormat, payload: UnsafeRawBufferPointer, time: MediaTime,
        broadcastNow: MediaTime
    ) throws(AudioMixingError) {
        let lane = source == .app ? app : microphone
        guard let first = try unsafe lane.submit(format, payload, time: time) else { return }
        let frames = Int64(payload.count / format.bytesPerFrame)
        latency.observe(
            need: broadcastNow - MediaTime(sample: max(0, first), rate: settings.sampleRate),
            duration: MediaTime(sample: frames, rate: format.sampleRate))
        if awaited.remove(source) != nil, awaited.isEmpty { latency.endStart() }
    }

    // MARK: Out

    /// Broadcast time at which the next block is due; moves later when the latency grows.
    package var nextDue: MediaTime {
        let last = position + Int64(settings.frameLength + limiter.lookahead)
        return MediaTime(sample: last, rate: settings.sampleRate) + latency.current
    }

    /// The next block may be due before `nextDue`, once the sources that are expected have been heard.
    package var isStarting: Bool { latency.isStarting }

    /// Returns the next block if it is due, else nil. Must be called until it returns nil.
    package func render(broadcastNow: MediaTime) -> MixedBlock? {
        latency.advance(to: broadcastNow)
        return broadcastNow >= nextDue ? nextBlock() : nil
    }

    /// At the end of a broadcast: the next block without waiting, nil once `end` has been reached; call until nil.
    package func flush(until end: MediaTime) -> MixedBlock? {
        MediaTime(sample: position, rate: settings.sampleRate) < end ? nextBlock() : nil
    }

    /// The broadcast time up to which any source has samples.
    package var contentEnd: MediaTime {
        MediaTime(sample: max(app.end ?? 0, microphone.end ?? 0), rate: settings.sampleRate)
    }

    package var counters: AudioMixerCounters {
        var counters = AudioMixerCounters()
        counters.app = app.counters
        counters.microphone = microphone.counters
        counters.blocks = blocks
        counters.silentBlocks = silentBlocks
        counters.limitedFrames = limiter.limitedFrames
        counters.latency = latency.current
        return counters
    }

    private func nextBlock() -> MixedBlock {
        let frames = settings.frameLength
        let lookahead = limiter.lookahead
        let from = position + Int64(lookahead)
        if !app.hasSamples(from: from), !microphone.hasSamples(from: from) { silentBlocks += 1 }
        limiter.begin()
        app.take(from: from, count: frames, gain: settings.appGain, into: limiter.buffer, offset: lookahead)
        microphone.take(
            from: from, count: frames, gain: settings.microphoneGain, into: limiter.buffer, offset: lookahead)
        let isSilent = limiter.process()
        let time = MediaTime(sample: position, rate: settings.sampleRate)
        position += Int64(frames)
        blocks += 1
        return unsafe MixedBlock(
            time: time, frames: frames, channels: settings.channels, isSilent: isSilent,
            samples: UnsafePointer(limiter.buffer[0]), stride: limiter.buffer.capacity)
    }

    private static func linear(decibels: Float) -> Float { powf(10, decibels / 20) }
}
