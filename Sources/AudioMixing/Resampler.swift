internal import CLibSWResample

/// One libswresample context: planar floats from one rate to another, with a rate correction that can change at any
/// time.
///
/// It also resamples between equal rates, so that a correction never needs a new context. It uses 256 filter phases
/// with interpolation between them, which takes a quarter of the default's memory without an audible difference.
@safe final class Resampler /* the context is private and freed once; planes are checked before pointers are taken */ {
    let inputRate: Int
    let outputRate: Int
    private let context: OpaquePointer
    private let channels: Int
    private let inputs: UnsafeMutablePointer<UnsafePointer<UInt8>?>
    private let outputs: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>
    private var correction = 0

    init(inputRate: Int, outputRate: Int, channels: Int) throws(AudioMixingError) {
        var layout = unsafe AVChannelLayout()
        unsafe av_channel_layout_default(&layout, Int32(channels))
        var sameLayout = unsafe layout
        var made: OpaquePointer?
        let result = unsafe swr_alloc_set_opts2(
            &made, &layout, AV_SAMPLE_FMT_FLTP, Int32(outputRate), &sameLayout, AV_SAMPLE_FMT_FLTP, Int32(inputRate),
            0, nil)
        guard result >= 0, let made = unsafe made else {
            throw .resampler(operation: "swr_alloc_set_opts2", code: result)
        }
        let object = unsafe UnsafeMutableRawPointer(made)
        let options = [
            ("flags", Int64(SWR_FLAG_RESAMPLE)), ("phase_shift", 8), ("linear_interp", 1), ("exact_rational", 0),
        ]
        var status: Int32 = 0
        for (name, value) in options where status >= 0 { status = unsafe av_opt_set_int(object, name, value, 0) }
        if status >= 0 { status = unsafe swr_init(made) }
        guard status >= 0 else {
            var lost: OpaquePointer? = unsafe made
            unsafe swr_free(&lost)
            throw .resampler(operation: "swr_init from \(inputRate) to \(outputRate) Hz", code: status)
        }
        self.inputRate = inputRate
        self.outputRate = outputRate
        self.channels = channels
        unsafe context = made
        unsafe inputs = .allocate(capacity: channels)
        unsafe outputs = .allocate(capacity: channels)
    }

    deinit {
        var context: OpaquePointer? = unsafe context
        unsafe swr_free(&context)
        unsafe inputs.deallocate()
        unsafe outputs.deallocate()
    }

    /// The memory in bytes of a context, its filter bank and its buffers, for the highest input rate; measured and
    /// rounded up.
    static func memoryBytes(outputRate: Int) -> Int {
        let bank = 257 * (filterFrames(inputRate: 192_000, outputRate: outputRate) + 8) * MemoryLayout<Float>.stride
        return 250_000 + bank
    }

    /// The number of output frames, with a fraction, between the next output frame and the next input frame.
    var delay: Double {
        Double(unsafe swr_get_delay(context, Int64(outputRate) * 1000)) / 1000
    }

    /// The number of input frames inside the filter, rounded up.
    var pendingInput: Int { max(0, Int(unsafe swr_get_delay(context, Int64(inputRate)))) + 1 }

    /// The number of input frames whose output fits `frames` with any correction.
    func inputFrames(forOutput frames: Int) -> Int {
        let longestFilter = Self.filterFrames(inputRate: inputRate, outputRate: outputRate) / 2 + 2
        return max(1, (frames - 2) * 100 * inputRate / (outputRate * 102) - longestFilter)
    }

    /// Taps of the filter: 32 at the lower of the two rates, with libswresample's default cutoff of 0.97.
    private static func filterFrames(inputRate: Int, outputRate: Int) -> Int {
        max(32, 33 * inputRate / outputRate + 1)
    }

    /// Pushes `count` input frames and returns the number of output frames. Wraps `swr_convert`.
    ///
    /// - Parameter limit: the maximum number of output frames. The rest of the input stays inside.
    func convert(
        _ source: borrowing FloatPlanes, count: Int, into target: borrowing FloatPlanes, limit: Int = .max
    ) throws(AudioMixingError) -> Int {
        precondition(count <= source.capacity)
        precondition(source.channels == channels && target.channels == channels)
        for channel in 0..<channels {
            let (from, to) = unsafe (UnsafeRawPointer(source[channel]), UnsafeMutableRawPointer(target[channel]))
            unsafe inputs[channel] = from.assumingMemoryBound(to: UInt8.self)
            unsafe outputs[channel] = to.assumingMemoryBound(to: UInt8.self)
        }
        // libswresample's internal buffers grow with the announced room, so only the needed room is announced.
        let bound = min(target.capacity, limit, (count + pendingInput) * outputRate * 102 / (inputRate * 100) + 2)
        let result = unsafe swr_convert(context, outputs, Int32(bound), inputs, Int32(count))
        guard result >= 0 else { throw .resampler(operation: "swr_convert", code: result) }
        return Int(result)
    }

    /// The number of past input frames that a new resampler needs for its first `primedOutput` frames, which are wrong.
    static func primedInput(inputRate: Int, outputRate: Int) -> Int {
        let output = primedOutput(inputRate: inputRate, outputRate: outputRate)
        return (output * inputRate + outputRate - 1) / outputRate + filterFrames(
            inputRate: inputRate, outputRate: outputRate)
    }

    /// Half a filter, in output frames, plus some frames in which the output is shifted by a fraction of a frame.
    private static func primedOutput(inputRate: Int, outputRate: Int) -> Int {
        filterFrames(inputRate: inputRate, outputRate: outputRate) * outputRate / (2 * inputRate) + 32
    }

    /// Runs past samples through a new resampler. Afterwards its next output frame is at a whole frame.
    ///
    /// The first output frame is at the position of the first input frame. It is shifted later by a fraction of a
    /// frame: the resampler runs a little faster through frames that nobody hears.
    ///
    /// - Parameter start: the frame, with a fraction, of the first sample in `past`.
    /// - Returns: the frame of the next output; nil if there was too little output.
    func prime(
        _ past: borrowing FloatPlanes, count: Int, start: Double, into target: borrowing FloatPlanes
    ) throws(AudioMixingError) -> Int64? {
        let first = start.rounded(.up)
        let wanted = Self.primedOutput(inputRate: inputRate, outputRate: outputRate)
        let parts = Int32(((first - start) * 1_000_000 / Double(wanted)).rounded())
        var result = unsafe swr_set_compensation(context, -parts, 1_000_000)
        guard result >= 0 else { throw .resampler(operation: "swr_set_compensation", code: result) }
        let made = try convert(past, count: count, into: target, limit: wanted)
        result = unsafe swr_set_compensation(context, 0, 0)
        guard result >= 0 else { throw .resampler(operation: "swr_set_compensation", code: result) }
        return made == wanted ? Int64(first) + Int64(made) : nil
    }

    /// Stretches later samples by this many millionths; negative values compress. Wraps `swr_set_compensation`.
    func correct(partsPerMillion: Int) throws(AudioMixingError) {
        guard partsPerMillion != 0 || correction != 0 else { return }
        // Lasts for a million output frames and is renewed with each block, so it never expires in between.
        let result = unsafe swr_set_compensation(context, Int32(partsPerMillion), 1_000_000)
        guard result >= 0 else { throw .resampler(operation: "swr_set_compensation", code: result) }
        correction = partsPerMillion
    }
}
