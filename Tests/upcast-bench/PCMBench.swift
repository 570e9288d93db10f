internal import ArgumentParser
internal import AudioMixing
internal import MediaCore

/// A block of stereo PCM is taken apart: swapped, made float, laid in planes.
///
/// The rival is what ffmpeg does with the same bytes: libavcodec's decoder of that PCM, which swaps, then
/// libswresample, which cannot. `swresample` is the latter alone, on samples that were swapped before.
struct PCMBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pcm", abstract: "Nanoseconds of processor time for a frame of stereo PCM, from bytes to planes.")

    @Option(help: "Rounds; the median counts.") var rounds = 9
    @Option(help: "Blocks in a round.") var blocks = 2000
    @Option(help: "Frames in a block, at most 1024.") var frames = 1024

    /// With libav's names of the decoder and of what it gives.
    private static let formats: [(name: String, encoding: PCMEncoding, isBigEndian: Bool, native: String)] = [
        ("s16be", .int16, true, "s16"), ("s16le", .int16, false, "s16"),
        ("s24be", .int24, true, "s32"), ("s24le", .int24, false, "s32"),
        ("s32be", .int32, true, "s32"), ("s32le", .int32, false, "s32"),
        ("f32be", .float32, true, "flt"), ("f32le", .float32, false, "flt"),
    ]

    func run() throws {
        guard (1...BlockDecoder.maximumFrames).contains(frames), rounds > 0, blocks > 0 else {
            throw ValidationError("--frames: 1 to \(BlockDecoder.maximumFrames); --rounds and --blocks: at least 1")
        }
        for format in Self.formats {
            try run(format.name, format.native, AudioFormat(
                sampleRate: 48_000, channels: 2, encoding: format.encoding, isBigEndian: format.isBigEndian))
        }
    }

    private func run(_ name: String, _ native: String, _ format: AudioFormat) throws {
        let payload = UnsafeMutableRawBufferPointer.allocate(byteCount: frames * format.bytesPerFrame, alignment: 64)
        defer { unsafe payload.deallocate() }
        unsafe Self.fill(payload, format)
        let bytes = UnsafeRawBufferPointer(payload)

        var decoder = BlockDecoder(outputs: 2)
        decoder.use(channels: 2)
        let planes = FloatPlanes(channels: 2, capacity: frames)
        let libavcodec = try unsafe LibAVDecoder("pcm_" + name, channels: 2, payload: bytes)
        let libswresample = try LibSWConverter(native, channels: 2)
        let rivals = FloatPlanes(channels: 2, capacity: frames)
        let (left, right) = unsafe (rivals[0], rivals[1])
        // Its buffer is the decoder's, and the next frame's, too.
        let decoded = UnsafeMutablePointer<UInt8>.allocate(capacity: frames * 8)
        defer { unsafe decoded.deallocate() }
        unsafe decoded.update(from: try libavcodec.decode(), count: frames * (native == "s16" ? 4 : 8))

        func ours() { unsafe decoder.decode(bytes, format, frames: 0..<frames, into: planes) }
        func both() throws {
            try unsafe libswresample.convert(try libavcodec.decode(), frames: frames, left: left, right: right)
        }
        func converter() throws {
            try unsafe libswresample.convert(decoded, frames: frames, left: left, right: right)
        }
        // The same work, or there is nothing to compare.
        ours()
        try both()
        for channel in 0..<2 {
            for frame in 0..<frames where unsafe abs(planes[channel][frame] - rivals[channel][frame]) > 1e-6 {
                throw ValidationError("\(name): sample \(frame) of channel \(channel) is not what libswresample makes")
            }
        }
        let times = try Stopwatch.measure(rounds: rounds, count: blocks, inTurn: [ours, both, converter])
        let divisor = Double(frames)
        print(
            #"{"bench": "pcm", "format": "\#(name)", "frames": \#(frames), "# + times[0].fields(
                divisor: divisor, unit: "ns") + ", "
                + times[0].fields(beside: times[1], divisor: divisor, unit: "ns", name: "libavcodec") + ", "
                + times[0].fields(beside: times[2], divisor: divisor, unit: "ns", name: "swresample") + "}")
    }

    /// Noise; as floating point it is of half scale, for most patterns of bits are no sound.
    private static func fill(_ payload: UnsafeMutableRawBufferPointer, _ format: AudioFormat) {
        var state: UInt32 = 1
        func next() -> UInt32 {
            state = state &* 1_664_525 &+ 1_013_904_223
            return state
        }
        guard format.encoding == .float32 else {
            for index in payload.indices { unsafe payload[index] = UInt8(truncatingIfNeeded: next() >> 24) }
            return
        }
        for offset in stride(from: 0, to: payload.count, by: 4) {
            let bits = (Float(next() >> 8) / 16_777_216 - 0.5).bitPattern
            let stored = format.isBigEndian ? bits.bigEndian : bits
            unsafe payload.storeBytes(of: stored, toByteOffset: offset, as: UInt32.self)
        }
    }
}
