internal import MediaCore

/// One source's way from PCM blocks to samples at their place on the broadcast timeline.
///
/// Samples come in segments. Within a segment they lie one behind the other whatever their PTS jitter, and a lasting
/// difference is worked off by changing the rate a little. A segment ends when a block is further than the tolerance
/// from where it should follow, or when nothing has come by the time of rendering. It is then faded out from its last
/// sample's value, and the next one is faded in, both before the resampler, so that a joint never clicks. Where only
/// the rate changes the segment goes on (`join`): the old resampler gets what follows, at its own rate, and the new one
/// what came before, so that neither knows of an end.
///
/// Frame numbers are those of the broadcast at the mixer's rate. Audio thread only.
final class SourceLane {
    /// A block that lies no further from its PTS than this follows on without a gap.
    private static let tolerance = 0.020
    /// Up to this far it does so still, for a few blocks: a PTS taken from a busy clock is no gap.
    private static let outlierTolerance = 0.040
    private static let outliersInARow = 3
    /// Frames of resampled output at a time.
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
    /// First frame that belongs to this segment; the resampler emits a few frames of silence before it.
    private var segmentStart: Int64 = 0
    /// First frame after all that have been placed; nil before the first.
    private(set) var end: Int64?
    /// First frame that has not been rendered yet.
    private var rendered: Int64
    private let start: Int64
    private var outliers = 0
    private var lastTime: MediaTime?
    /// Seconds of samples since the first block of `lastTime`, which was measured.
    private var sinceMeasured = 0.0
    /// The value of each channel that went into the resampler last.
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

    /// Places a block of which `time` is the first sample's broadcast time; returns the frame that had to be free for
    /// all of it to be heard, nil for a block without samples.
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

    /// Makes ready for the format: a new rate has a new resampler, everything else is one decoder's matter.
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

    /// Goes on with the segment at another rate. False where the block does not follow, or too little is known of the
    /// signal on either side: the first and last milliseconds of a segment, or blocks that are shorter.
    private func join(
        _ new: AudioFormat, _ payload: UnsafeRawBufferPointer, frames: Int, time: MediaTime
    ) throws(AudioMixingError) -> Bool {
        guard isOpen, let position = try unsafe finish(before: new, payload, frames: frames, time: time) else {
            return false
        }
        // Never two at once: most of a lane's memory is its resampler's.
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
        // From the joint on the new one is heard, or from where the old one ends.
        segmentStart = min(Int64(position.rounded(.up)), next)
        next = first
        joint.forget()
        joint.remember(input, count: primed)
        resampler = fresh
        return true
    }

    /// Feeds the old resampler what follows, at its own rate, until it has given out all that is before the joint.
    ///
    /// - Returns: the frame, with a fraction, where the new rate's first sample lies; nil where it cannot be joined.
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
            // Blocks of one burst may all carry the burst's time (iOS 12): they lie one behind another.
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

    /// Whether a block that lies so many seconds later than its PTS (negative: earlier) continues the segment.
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

    /// Input frames of a new segment that have no place: before the start, rendered already, or under the last segment.
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
        // What is on its way through the resampler is silence: see close().
        next = Int64((position - resampler.delay).rounded())
        // Less than a millisecond is the rounding to input frames where a rate changes.
        if let end, segmentStart - end > Int64(rate / 1000) {
            counters.gaps += 1
            counters.silenceFrames += Int(segmentStart - end)
        }
        fadeIn = Fade(rate: resampler.inputRate)
        joint.forget()
        outliers = 0
        isOpen = true
    }

    /// Fades a segment's first samples in, and remembers its last.
    private func shape(_ count: Int) {
        for channel in 0..<input.channels {
            let samples = unsafe input[channel]
            for index in 0..<min(count, fadeIn.left) { unsafe samples[index] *= fadeIn.rising(index) }
            lastFrame[channel] = unsafe samples[count - 1]
        }
        fadeIn.advance(count)
    }

    /// Ends the segment: the last sample's value fades out, and silence pushes it all through the resampler.
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

    /// Input frames at a time, so that what they become fits the output planes.
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

    /// Whether samples are placed at frame `start` or after it.
    func hasSamples(from start: Int64) -> Bool { end.map { $0 > start } ?? false }

    /// Adds `count` frames from frame `start`, where the last call ended, to `target`; they are rendered now.
    func take(
        from start: Int64, count: Int, gain: Float, into target: borrowing FloatPlanes, offset: Int
    ) {
        precondition(start == rendered)
        if isOpen, next < start + Int64(count) {
            do { try close() } catch { abandon() }
        }
        if hasSamples(from: start) {
            ring.take(from: start, count: count, gain: gain, into: target, offset: offset)
        }
        rendered = start + Int64(count)
    }

    /// After a failure of the resampler: the next block starts afresh.
    private func abandon() {
        isOpen = false
        resampler = nil
        format = nil
    }
}
