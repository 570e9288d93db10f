internal import AudioMixing
internal import Buffering
internal import Encoding
internal import LinuxSystem
internal import MediaCore
internal import Privacy

/// The body of the thread `up-audio`: it puts PCM on the mixer's timeline and encodes each block when it is due.
/// Missing sound becomes silence, so the broadcast always has an audio track.
///
/// The first block waits for the first picture, because destinations begin with a keyframe and leave out earlier
/// packets. The video thread provides a picture within half a second. The mixer's rings have room for that.
final class AudioWorker: @unchecked Sendable /* all state belongs to the audio thread, but for `mixerCounters` */ {
    private let queue: PCMQueue
    private let mixer: AudioMixer
    private let encoder: AudioEncoder
    private let meter: PacketMeter
    private let clock: BroadcastClock
    private let counters: BroadcastCounters
    private let curtain: Curtain
    /// Waits for the take-back of the raise that began this epoch; returns nil if the broadcast ends.
    private let takenBack: @Sendable (CurtainEpoch) -> TakenBack?
    private var fillLimit = FillLimit()
    private var muting: CurtainMuting
    /// Viewers do not hear sound that began to arrive before this time (monotonic). Nil if the curtain's `openingTime`
    /// decides.
    private var heardFrom: MediaTime?
    private let gains: Monitor<(app: Float, microphone: Float)>
    private let published: Monitor<AudioMixerCounters>
    private let onFailure: @Sendable (String) -> Void
    /// Covers mixing and encoding, from the moment that a block is taken.
    let work = WorkMark("the audio thread")

    /// How often the thread checks for the broadcast's first sample (which may be video) and its first picture.
    private static let startPollInterval = MediaTime.milliseconds(10)

    init(
        queue: PCMQueue, mixer: AudioMixer, encoder: AudioEncoder, meter: PacketMeter, clock: BroadcastClock,
        counters: BroadcastCounters, curtain: Curtain = Curtain(),
        takenBack: @escaping @Sendable (CurtainEpoch) -> TakenBack? = { _ in nil },
        onFailure: @escaping @Sendable (String) -> Void
    ) {
        self.curtain = curtain
        self.takenBack = takenBack
        muting = CurtainMuting(settings: mixer.settings, curtain.stamp)
        self.queue = queue
        self.mixer = mixer
        self.encoder = encoder
        self.meter = meter
        self.clock = clock
        self.counters = counters
        self.onFailure = onFailure
        published = Monitor(mixer.counters)
        gains = Monitor(mixer.gains)
    }

    /// Any thread: linear gains, 0 to 16, in force from the next block on.
    func setGains(app: Float, microphone: Float) { gains.withLock { $0 = (app, microphone) } }

    /// Any thread: the mixer's counters, at most one block old.
    var mixerCounters: AudioMixerCounters { published.withLock { $0 } }

    /// Runs until the queue is closed and empty, then mixes and encodes the rest.
    func run() {
        work.begin()
        defer { work.end() }
        do throws(WorkerFailure) {
            while try step() {}
            if let now = clock.now() {
                try encodeDueBlocks(now)
                // Mixes the rest without waiting for late blocks, up to the last sound or picture.
                let end = max(now, mixer.contentEnd)
                while let block = mixer.flush(until: end) { try encode(block) }
            }
            try encoding { () throws(EncodingError) in try encoder.finish(into: meter) }
        } catch {
            onFailure(error.sentence)
            while case .block = take(until: nil) { queue.release() }
        }
    }

    private func step() throws(WorkerFailure) -> Bool {
        let soon = clock.monotonic.now() + Self.startPollInterval
        let wait = mixer.wait
        let due = hasPicture ? clock.monotonicTime(of: wait.deadline) : nil
        // The thread does not wake up for PCM that does not complete a block.
        var next: PCMQueue.Outcome? = take(until: due ?? soon, wanting: due != nil ? wait.lacks : nil)
        for _ in 0..<PCMQueue.maxBlocks {
            guard case .block(let block, let bytes)? = next else { break }
            unsafe submit(block, bytes)
            queue.release()
            next = queue.takeNow()
        }
        switch next {
        case .closed?: return false
        // Blocks arrive faster than this thread takes them. The next turn takes the rest.
        case .block(let block, let bytes)?:
            unsafe submit(block, bytes)
            queue.release()
        case .timeout?, nil: break
        }
        if hasPicture, let now = clock.now() { try encodeDueBlocks(now) }
        return true
    }

    /// Waiting does not count as work.
    private func take(until deadline: MediaTime?, wanting wanted: AudioDurations? = nil) -> PCMQueue.Outcome {
        work.end()
        defer { work.begin() }
        return queue.take(until: deadline, wanting: wanted)
    }

    private var hasPicture: Bool { meter.keyframes.current > 0 }

    private func submit(_ block: PCMBlock, _ bytes: UnsafeRawBufferPointer) {
        guard let now = clock.now() else { return }
        // The delay is measured to the block's arrival, not to the moment when it is taken.
        let waited = max(.zero, clock.monotonic.now() - block.arrival)
        do {
            try unsafe mixer.submit(
                block.source, format: block.format, payload: bytes, time: block.time, broadcastNow: now - waited)
        } catch {
            // One block that cannot be mixed is silence; the broadcast goes on.
            counters.audioRefused.add()
        }
        if let heardFrom, block.began < heardFrom { muting.hold(until: mixer.arrivedEnd) }
    }

    /// The time from which viewers hear sound after the curtain has come down. Some clients send sound ahead of the
    /// clock, so all sound that has arrived by then was recorded earlier.
    private func opening(_ block: MixedBlock) -> MediaTime {
        if let time = curtain.openingTime {
            heardFrom = nil
            return time
        }
        heardFrom = clock.monotonic.now()
        return max(clock.now() ?? block.time, mixer.arrivedEnd)
    }

    private func encodeDueBlocks(_ now: MediaTime) throws(WorkerFailure) {
        var rendered = false
        mixer.gains = gains.withLock { $0 }
        while let block = mixer.render(broadcastNow: now) {
            rendered = true
            try encode(block)
        }
        if rendered {
            let counters = mixer.counters
            published.withLock { $0 = counters }
        }
    }

    private func encode(_ block: MixedBlock) throws(WorkerFailure) {
        let stamp = curtain.stamp
        if muting.isNews(stamp) { try fill(upTo: block.time, stamp.epoch) }
        let gain = muting.gain(of: block.time, stamp, opening: opening(block))
        // For mono the encoder reads the first pointer only.
        let channels = unsafe (block.channel(0), block.channel(block.channels - 1))
        try unsafe encode(
            muting.apply(gain, to: channels, count: block.frames), block.frames, at: block.time, stamp.epoch)
    }

    /// Replaces packets that were taken back by silence, because players would wait for the missing sound.
    private func fill(upTo end: MediaTime, _ epoch: CurtainEpoch) throws(WorkerFailure) {
        let last = takenBack(epoch)?.lastAudio
        encoder.goBack(to: last, epoch: epoch)
        guard let last else { return }
        let settings = mixer.settings
        let length = MediaTime(sample: Int64(settings.frameLength), rate: settings.sampleRate)
        let blocks = (end - last).nanoseconds / length.nanoseconds - 1
        guard blocks > 0 else { return }
        for number in stride(from: blocks, to: 0, by: -1) {
            guard
                fillLimit.goesOn(epoch, current: curtain.stamp, isEnding: queue.isClosed, at: clock.monotonic.now())
            else { return }
            // A long delay leads to thousands of blocks.
            work.begin()
            try unsafe encode(muting.silence, settings.frameLength, at: end - length * number, epoch)
        }
    }

    private func encode(
        _ channels: (UnsafePointer<Float>, UnsafePointer<Float>), _ frames: Int, at time: MediaTime,
        _ epoch: CurtainEpoch
    ) throws(WorkerFailure) {
        try encoding { () throws(EncodingError) in
            var channels = unsafe channels
            try unsafe withUnsafePointer(to: &channels) { pointer throws(EncodingError) in
                try unsafe pointer.withMemoryRebound(to: UnsafePointer<Float>.self, capacity: 2) {
                    planes throws(EncodingError) in
                    try unsafe encoder.encode(channels: planes, frames: frames, time: time, epoch: epoch, into: meter)
                }
            }
        }
    }
}
