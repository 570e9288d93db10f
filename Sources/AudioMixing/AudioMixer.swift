internal import Glibc
package import MediaCore

/// Mixes app audio and microphone, in any format, into one stream of equal blocks without gaps.
///
/// Block n covers frames n * `frameLength` to (n + 1) * `frameLength` of the broadcast, counted from its time zero. It
/// contains the sources' samples times their gains, below the limiter's ceiling, and silence where no source has
/// samples. Samples are placed by their times, so the mixer needs no notice of a jump of the timeline.
///
/// A block is made at the latest when it has ended and the latency has passed. The latency adapts to the sources'
/// lateness. While it is short, a block is made earlier if all sources that are active have its samples. At the start,
/// the latency covers a burst of half a second, until the expected sources have shown their lateness. The limiter looks
/// 5 ms ahead: a block ends 5 ms later for the mixer, and the first 5 ms are silent.
///
/// Owns all buffers from `init` on. Only a new sample rate of a source allocates, because it replaces the source's
/// resampler. Audio thread only.
package final class AudioMixer {
    /// The rings' capacity beyond the latency, in seconds: a block of one second may begin at the broadcast clock.
    private static let ringSecondsAhead = 1

    package let settings: AudioMixerSettings
    private let app: SourceLane
    private let microphone: SourceLane
    private var limiter: PeakLimiter
    private var latency: MixingLatency
    /// Expected sources that have not sent a block yet.
    private var awaited: Set<AudioSource>
    /// The first frame of the next block.
    private var position: Int64 = 0
    private var appRamp: GainRamp
    private var microphoneRamp: GainRamp
    /// Linear, 0 to 16; in force from the next block on.
    package var gains: (app: Float, microphone: Float)
    private var blocks = 0
    private var silentBlocks = 0

    /// - Throws: if a setting is outside its documented range.
    package init(settings: AudioMixerSettings = .init()) throws(AudioMixingError) {
        try settings.check()
        self.settings = settings
        gains = (settings.appGain, settings.microphoneGain)
        (appRamp, microphoneRamp) = (GainRamp(settings.appGain), GainRamp(settings.microphoneGain))
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

    /// The memory of a mixer with these settings in bytes, including resamplers, for the worst format.
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
    /// A block directly follows the previous one as long as its time is near the end of that block. PTS jitter and
    /// clock drift are thus absorbed. Samples whose place has been rendered, or that are further ahead than the ring,
    /// are dropped and counted. An error drops the block; the mixer accepts the next one.
    ///
    /// - Parameters:
    ///   - payload: whole frames; planar formats have one plane after another. Valid only during the call; any
    ///     alignment.
    ///   - time: broadcast time of the first sample; samples before zero are cut off.
    ///   - broadcastNow: the current broadcast time.
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

    /// What the next block waits for. Ask again after each call of `submit` and `render`.
    package var wait: MixerWait {
        let from = position + Int64(limiter.lookahead)
        let to = from + Int64(settings.frameLength)
        let end = MediaTime(sample: to, rate: settings.sampleRate)
        let latest = end + latency.current
        guard !latency.isStarting, app.isActive || microphone.isActive else { return MixerWait(deadline: latest) }
        guard latency.endsEarly else { return MixerWait(deadline: latest, lacks: .init()) }
        func lack(of lane: SourceLane) -> MediaTime {
            MediaTime(sample: lane.isActive ? lane.missing(from: from, to: to) : 0, rate: settings.sampleRate)
        }
        let lacks = AudioDurations(app: lack(of: app), microphone: lack(of: microphone))
        return MixerWait(deadline: lacks.isZero ? end : latest, lacks: lacks)
    }

    /// Returns the next block if its deadline has passed, else nil. Call it until it returns nil.
    package func render(broadcastNow: MediaTime) -> MixedBlock? {
        latency.advance(to: broadcastNow)
        return broadcastNow >= wait.deadline ? nextBlock() : nil
    }

    /// For the end of a broadcast: returns the next block without waiting, or nil at `end`. Call it until it returns
    /// nil.
    package func flush(until end: MediaTime) -> MixedBlock? {
        MediaTime(sample: position, rate: settings.sampleRate) < end ? nextBlock() : nil
    }

    /// The broadcast time up to which any source has samples.
    package var contentEnd: MediaTime {
        MediaTime(sample: max(app.end ?? 0, microphone.end ?? 0), rate: settings.sampleRate)
    }

    /// Like `contentEnd`, but with samples that are still being resampled.
    package var arrivedEnd: MediaTime {
        MediaTime(sample: max(app.arrivedEnd ?? 0, microphone.arrivedEnd ?? 0), rate: settings.sampleRate)
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
        appRamp.aim(at: gains.app)
        microphoneRamp.aim(at: gains.microphone)
        app.take(from: from, count: frames, gain: appRamp, into: limiter.buffer, offset: lookahead)
        microphone.take(from: from, count: frames, gain: microphoneRamp, into: limiter.buffer, offset: lookahead)
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
