import CaptureSources
import MediaCore

/// A sample that an input has delivered.
struct ReadSample {
    var track: SampleTrack
    var time: MediaTime
    var lead: MediaTime
    /// Its first byte.
    var first: UInt8

    var isRestart: Bool

    /// All that an input delivers. Pictures have up to 64 KiB.
    static func all(_ input: some TimedInput) throws -> [ReadSample] { try first(.max, of: input) }

    /// At which of its first `count` samples an input has restarted.
    static func restarts(_ count: Int, of input: some TimedInput) throws -> [Int] {
        try first(count, of: input).enumerated().filter(\.element.isRestart).map(\.offset)
    }

    /// What an input delivers, up to `count` samples, for inputs that loop.
    static func first(_ count: Int, of input: some TimedInput) throws -> [ReadSample] {
        var result: [ReadSample] = []
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
        defer { memory.deallocate() }
        let place: VideoSource.Memory = { format in
            guard format.minimumPayloadBytes <= memory.count else { throw InputError("too large") }
            return memory
        }
        while result.count < count, let sample = try input.advance(into: place) {
            let first = sample.track == .video ? memory[0] : input.samples[0]
            result.append(
                ReadSample(
                    track: sample.track, time: sample.time, lead: sample.lead, first: first,
                    isRestart: sample.isRestart))
        }
        return result
    }
}
