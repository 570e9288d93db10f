internal import MediaCore

/// Converts one source's PCM blocks to samples at their place on the broadcast timeline.
///
/// Samples form segments. Within a segment they follow each other, whatever their PTS jitter, and small rate changes
/// remove a lasting difference. A segment ends when a block is further than the tolerance from its expected place, or
/// when no block has come by the time of rendering. The segment is then faded out from the value of its last sample,
/// and the next one is faded in. Both happen before the resampler, so a joint never clicks.
///
/// If only the rate changes, the segment continues (`join`). The old resampler gets the following samples at its own
/// rate, and the new one gets the previous samples, so neither of them sees an end.
///
/// Frame numbers are those of the broadcast at the mixer's rate. Audio thread only.
final class SourceLane {
    /// A block within this distance of its PTS continues without a gap.
    private static let tolerance = 0.020
    /// Up to this distance a few blocks continue as well, because a PTS from a busy clock is no gap.
    private static let outlierTolerance = 0.040
    private static let outliersInARow = 3
    /// A source is waited for until it has sent nothing for this long.
    private static let activeSeconds: Int64 = 5
    /// The number of resampled output frames at a time.
    private static let outputFrames = 3072

    private let rate: Int
    private let ring: SampleRing
    private var decoder: BlockDecoder
    private let input: FloatPlanes
    private let output: FloatPlanes
    private var resampler: Resampler?
    private var joint: RateJoint

    private var format: AudioFormat?
    private var drift = DriftController()
    private var isOpen = false
    /// The position of the resampler's next frame.
    private var next: Int64 = 0
    /// The first frame of this segment. Before it, the resampler outputs a few frames of silence.
    private var segmentStart: Int64 = 0
    /// The first frame after all placed frames; nil before the first.
    private(set) var end: Int64?
    /// Like `end`, but with the samples that have arrived and that the resampler still holds.
    var arrivedEnd: Int64? {
        guard isOpen, let resampler else { return end }
        return max(end ?? segmentStart, Int64((Double(next) + resampler.delay).rounded(.up)))
    }
    /// The first frame that has not been rendered yet.
    private var rendered: Int64
    /// `rendered` when the last block came; nil before the first.
    private var lastBlock: Int64?
    private let start: Int64
    private var outliers = 0
    private var lastTime: MediaTime?
    /// The duration in seconds of the samples since the first block with `lastTime`, which was measured.
    private var sinceMeasured = 0.0
    /// The last value of each channel that went into the resampler.
    private var lastFrame: InlineArray<2, Float> = [0, 0]
    private var fadeIn = Fade(rate: 0)
    private(set) var counters = AudioSourceCounters()

    /// - Parameter start: the first frame that will be rendered.
    init(rate: Int, channels: Int, ringFrames: Int, start: Int64) {
        self.start = start
        rendered = start
        self.rate = rate
        ring = SampleRing(channels: channels, capacity: ringFrames)
        decoder = BlockDecoder(outputs: channels)
        input = FloatPlanes(channels: channels, capacity: BlockDecoder.maximumFrames)
        output = FloatPlanes(channels: channels, capacity: Self.outputFrames)
        joint = RateJoint(channels: channels)
    }

    static func memoryBytes(rate: Int, channels: Int, ringFrames: Int) -> Int {
        FloatPlanes.memoryBytes(channels: channels, capacity: ringFrames + BlockDecoder.maximumFrames + outputFrames
                + 2 * RateJoint.frames)
            + BlockDecoder.memoryBytes() + Resampler.memoryBytes(outputRate: rate)
    }

    // MARK: Blocks in

    /// Places a block whose first sample has the broadcast time `time`. Returns the frame that must not have been
    /// rendered for the whole block to be heard; nil for a block without samples.
    func submit(
        _ format: AudioFormat, _ payload: UnsafeRawBufferPointer, time: MediaTime
    ) throws(AudioMixingError) -> Int64? {
        guard AudioMixerSettings.sampleRates.contains(format.sampleRate),
            (1...ChannelMap.maximumInputs).contains(format.channels)
        else { throw refuse(.format(format)) }
        guard payload.count % format.bytesPerFrame == 0 else {
            throw refuse(.payloadSize(bytes: payload.count, bytesPerFrame: format.bytesPerFrame))
        }
        let frames = payload.count / format.bytesPerFrame
        guard frames > 0 else { return nil }
        counters.blocks += 1
        counters.frames += frames
        lastBlock = rendered
        do {
            try unsafe use(format, payload, frames: frames, time: time)
            return try unsafe place(payload, format, frames: frames, time: time)
        } catch {
            abandon()
            throw refuse(error)
        }
    }

    private func refuse(_ error: AudioMixingError) -> AudioMixingError {
        counters.refusedBlocks += 1
        return error
    }

    /// Prepares for the format. A new rate needs a new resampler; the decoder handles all other changes.
    private func use(
        _ new: AudioFormat, _ payload: UnsafeRawBufferPointer, frames: Int, time: MediaTime
    ) throws(AudioMixingError) {
        if let format, format != new { counters.formatChanges += 1 }
        decoder.use(channels: new.channels)
        if resampler?.inputRate != new.sampleRate, try unsafe !join(new, payload, frames: frames, time: time) {
            try close()
            resampler = nil
            resampler = try Resampler(inputRate: new.sampleRate, outputRate: rate, channels: input.channels)
            drift = DriftController()
        }
        format = new
    }

    /// Continues the segment at another rate. Returns false if the block does not follow, or if too little of the
    /// signal is known on either side: in the first and last milliseconds of a segment, and for shorter blocks.
    private func join(
        _ new: AudioFormat, _ payload: UnsafeRawBufferPointer, frames: Int, time: MediaTime
    ) throws(AudioMixingError) -> Bool {
        guard isOpen, let position = try unsafe finish(before: new, payload, frames: frames, time: time) else {
            return false
        }
        // Never two resamplers at once, because they take most of a lane's memory.
        resampler = nil
        let fresh = try Resampler(inputRate: new.sampleRate, outputRate: rate, channels: input.channels)
        let primed = Resampler.primedInput(inputRate: new.sampleRate, outputRate: rate)
        let inputRate = Double(new.sampleRate)
        joint.sample(from: -Double(primed) / inputRate, step: 1 / inputRate, count: primed, into: input)
        let start = position - Double(primed) * Double(rate) / inputRate
        guard let first = try fresh.prime(input, count: primed, start: start, into: output), first <= next else {
            isOpen = false
            return false
        }
        // The new resampler is heard from the joint on, or from the end of the old one.
        segmentStart = min(Int64(position.rounded(.up)), next)
        next = first
        joint.forget()
        joint.remember(input, count: primed)
        resampler = fresh
        return true
    }

    /// Feeds the old resampler with the following samples, at its own rate, until it has output everything before the
    /// joint.
    ///
    /// - Returns: the frame, with a fraction, of the new rate's first sample; nil if the segments cannot be joined.
    private func finish(
        before new: AudioFormat, _ payload: UnsafeRawBufferPointer, frames: Int, time: MediaTime
    ) throws(AudioMixingError) -> Double? {
        guard let resampler else { return nil }
        let position = Double(next) + resampler.delay
        let deviation = position / Double(rate) - Double(time.nanoseconds) / 1e9
        guard time == lastTime || abs(deviation) <= Self.tolerance else { return nil }
        let ratio = Double(resampler.inputRate) / Double(new.sampleRate)
        let primed = Resampler.primedInput(inputRate: new.sampleRate, outputRate: rate)
        let tail = resampler.pendingInput + 1
        guard max(primed, tail) <= BlockDecoder.maximumFrames else { return nil }
        let count = min(frames, RateJoint.frames, BlockDecoder.maximumFrames)
        unsafe decoder.decode(payload, new, frames: 0..<count, into: input)
        joint.expect(input, count: count, from: resampler.inputRate, to: new.sampleRate)
        guard joint.reaches(past: Int(Double(primed) * ratio) + 1, future: Int(Double(tail) / ratio) + 1) else {
            return nil
        }
        joint.sample(from: 0, step: 1 / Double(resampler.inputRate), count: tail, into: input)
        try push(tail, resampler)
        return position
    }

    private func place(
        _ payload: UnsafeRawBufferPointer, _ format: AudioFormat, frames: Int, time: MediaTime
    ) throws(AudioMixingError) -> Int64? {
        guard let resampler else { return nil }
        var position = Double(time.nanoseconds) * Double(rate) / 1e9
        if time == lastTime {
            // All blocks of one burst may carry the burst's time (iOS 12). They then follow each other.
            position += sinceMeasured * Double(rate)
        } else {
            let deviation = (Double(next) + resampler.delay - position) / Double(rate)
            if isOpen, !follows(deviation: deviation) { try close() }
            sinceMeasured = 0
            lastTime = time
        }
        sinceMeasured += Double(frames) / Double(format.sampleRate)

        var skipped = 0
        if !isOpen {
            skipped = skip(frames: frames, position: position, inputRate: format.sampleRate)
            guard skipped < frames else { return Int64(position) }
            open(at: position + Double(skipped) * Double(rate) / Double(format.sampleRate), resampler)
        }
        let first = skipped > 0 ? Int64(position) : next
        counters.driftPartsPerMillion = drift.partsPerMillion
        try resampler.correct(partsPerMillion: drift.partsPerMillion)

        var done = skipped
        let step = chunk(resampler)
        while done < frames {
            let count = min(step, frames - done)
            unsafe decoder.decode(payload, format, frames: done..<done + count, into: input)
            shape(count)
            joint.remember(input, count: count)
            try push(count, resampler)
            done += count
        }
        return first
    }

    /// Whether a block that is placed `deviation` seconds later than its PTS (negative: earlier) continues the segment.
    private func follows(deviation: Double) -> Bool {
        if abs(deviation) <= Self.tolerance {
            outliers = 0
            drift.observe(deviation: deviation, elapsed: sinceMeasured)
            let distance = MediaTime(nanoseconds: Int64(abs(deviation) * 1e9))
            counters.largestDeviation = max(counters.largestDeviation, distance)
            return true
        }
        if abs(deviation) <= Self.outlierTolerance, outliers < Self.outliersInARow {
            outliers += 1
            return true
        }
        if deviation > 0 { counters.overlaps += 1 }
        return false
    }

    /// The input frames of a new segment without a place: before the start, already rendered, or under the last
    /// segment.
    private func skip(frames: Int, position: Double, inputRate: Int) -> Int {
        let ratio = Double(rate) / Double(inputRate)
        func framesBefore(_ frame: Int64) -> Int {
            Int(min(max(0, ((Double(frame) - position) / ratio).rounded(.up)), Double(frames)))
        }
        func outputFrames(_ frames: Int) -> Int { Int((Double(frames) * ratio).rounded()) }
        let early = framesBefore(start)
        let late = framesBefore(rendered)
        let occupied = framesBefore(end ?? start)
        counters.beforeStartFrames += outputFrames(early)
        counters.lateFrames += outputFrames(max(0, late - early))
        counters.overlapFrames += outputFrames(max(0, occupied - max(late, early)))
        return max(late, occupied, early)
    }

    // MARK: Segments

    private func open(at position: Double, _ resampler: Resampler) {
        segmentStart = Int64(position.rounded())
        // The resampler still contains silence: see close().
        next = Int64((position - resampler.delay).rounded())
        // Less than a millisecond is rounding to input frames at a change of the rate.
        if let end, segmentStart - end > Int64(rate / 1000) {
            counters.gaps += 1
            counters.silenceFrames += Int(segmentStart - end)
        }
        fadeIn = Fade(rate: resampler.inputRate)
        joint.forget()
        outliers = 0
        isOpen = true
    }

    /// Fades in the first samples of a segment, and remembers the last one.
    private func shape(_ count: Int) {
        for channel in 0..<input.channels {
            let samples = unsafe input[channel]
            for index in 0..<min(count, fadeIn.left) { unsafe samples[index] *= fadeIn.rising(index) }
            lastFrame[channel] = unsafe samples[count - 1]
        }
        fadeIn.advance(count)
    }

    /// Ends the segment: fades out from the last sample's value, and pushes everything through the resampler with
    /// silence.
    private func close() throws(AudioMixingError) {
        guard isOpen, let resampler else { return }
        isOpen = false
        var fadeOut = Fade(rate: resampler.inputRate)
        var left = fadeOut.left + resampler.pendingInput
        let step = chunk(resampler)
        while left > 0 {
            let count = min(step, left)
            for channel in 0..<input.channels {
                let samples = unsafe input[channel]
                for index in 0..<count { unsafe samples[index] = lastFrame[channel] * fadeOut.falling(index) }
            }
            try push(count, resampler)
            fadeOut.advance(count)
            left -= count
        }
    }

    // MARK: Resampler to ring

    /// The number of input frames at a time whose output fits the output planes.
    private func chunk(_ resampler: Resampler) -> Int {
        min(BlockDecoder.maximumFrames, resampler.inputFrames(forOutput: Self.outputFrames))
    }

    private func push(_ count: Int, _ resampler: Resampler) throws(AudioMixingError) {
        let made = Int64(try resampler.convert(input, count: count, into: output))
        let limit = rendered + Int64(ring.capacity)
        let from = max(next, segmentStart, rendered)
        let to = min(next + made, limit)
        if from < to {
            ring.store(output, offset: Int(from - next), count: Int(to - from), at: from)
            end = to
        }
        counters.earlyFrames += Int(max(0, next + made - max(limit, next)))
        next += made
    }

    // MARK: Samples out

    /// Whether a block has come lately, even if all of it was too late.
    var isActive: Bool { lastBlock.map { rendered - $0 <= Int64(rate) * Self.activeSeconds } ?? false }

    /// How many of the frames from `start` to `end` have no samples yet.
    func missing(from start: Int64, to end: Int64) -> Int64 {
        let filled = isOpen ? min(next, self.end ?? start) : self.end ?? start
        return max(0, end - max(start, filled))
    }

    /// Whether samples are placed at or after frame `start`.
    func hasSamples(from start: Int64) -> Bool { end.map { $0 > start } ?? false }

    /// Adds `count` frames from frame `start`, the end of the last call, to `target`, and marks them as rendered.
    func take(
        from start: Int64, count: Int, gain: GainRamp, into target: borrowing FloatPlanes, offset: Int
    ) {
        precondition(start == rendered)
        if isOpen, next < start + Int64(count) {
            do { try close() } catch { abandon() }
        }
        var level = SoundLevel.Block()
        if hasSamples(from: start) {
            level = ring.take(from: start, count: count, gain: gain, into: target, offset: offset)
        }
        if end != nil {
            counters.level.note(level, frames: count, channels: output.channels, fullWindow: rate / 2)
        }
        rendered = start + Int64(count)
    }

    /// Discards the resampler after a failure. The next block starts a new segment.
    private func abandon() {
        isOpen = false
        resampler = nil
        format = nil
    }
}
