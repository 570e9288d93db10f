package import MediaCore

/// Decodes a block's bytes, in any layout, to planar floats with the mixer's channels, some frames at a time.
package struct BlockDecoder: ~Copyable {
    /// The maximum number of frames in one call.
    package static let maximumFrames = 1024

    private let samples: FloatPlanes
    private let outputs: Int
    private var map: ChannelMap

    package init(outputs: Int) {
        self.outputs = outputs
        map = ChannelMap(inputs: outputs, outputs: outputs)
        samples = FloatPlanes(channels: 1, capacity: Self.maximumFrames * ChannelMap.maximumInputs)
    }

    static func memoryBytes() -> Int {
        FloatPlanes.memoryBytes(channels: 1, capacity: maximumFrames * ChannelMap.maximumInputs)
    }

    /// Prepares for blocks with this number of channels.
    package mutating func use(channels: Int) {
        if channels != map.inputs { map = ChannelMap(inputs: channels, outputs: outputs) }
    }

    /// Decodes frames `range` of the payload to the start of `target`.
    package func decode(
        _ payload: UnsafeRawBufferPointer, _ format: AudioFormat, frames range: Range<Int>,
        into target: borrowing FloatPlanes
    ) {
        let count = range.count
        let sampleBytes = format.encoding.bytesPerSample
        precondition(
            count <= Self.maximumFrames && count <= target.capacity && target.channels == outputs
                && format.channels == map.inputs && range.lowerBound >= 0
                && range.upperBound * format.bytesPerFrame <= payload.count)
        guard count > 0, let base = payload.baseAddress else { return }
        let scratch = unsafe samples[0]

        if format.isInterleaved {
            unsafe PCMDecoder.decode(
                base + range.lowerBound * format.bytesPerFrame, count: count * format.channels,
                encoding: format.encoding, isBigEndian: format.isBigEndian, into: scratch)
            unsafe spread(scratch, count, into: target)
            return
        }
        for output in 0..<outputs { unsafe target[output].update(repeating: 0, count: count) }
        let planeBytes = payload.count / format.channels
        for input in 0..<format.channels {
            unsafe PCMDecoder.decode(
                base + input * planeBytes + range.lowerBound * sampleBytes, count: count,
                encoding: format.encoding, isBigEndian: format.isBigEndian, into: scratch)
            for output in 0..<outputs {
                let weight = map.weight(input: input, output: output)
                guard weight != 0 else { continue }
                let to = unsafe target[output]
                for frame in 0..<count { unsafe to[frame] += scratch[frame] * weight }
            }
        }
    }

    /// Mixes interleaved samples to the outputs. The usual cases, mono and stereo, have special loops.
    private func spread(_ scratch: UnsafeMutablePointer<Float>, _ count: Int, into target: borrowing FloatPlanes) {
        let inputs = map.inputs
        if inputs == 1 {
            for output in 0..<outputs { unsafe target[output].update(from: scratch, count: count) }
        } else if inputs == 2 && outputs == 2 {
            let (left, right) = unsafe (target[0], target[1])
            for frame in 0..<count {
                unsafe left[frame] = scratch[2 &* frame]
                unsafe right[frame] = scratch[2 &* frame &+ 1]
            }
        } else {
            for output in 0..<outputs {
                let to = unsafe target[output]
                let weights = output == 0 ? map.left : map.right
                for frame in 0..<count {
                    var sum: Float = 0
                    for input in 0..<inputs { sum += unsafe scratch[frame &* inputs &+ input] * weights[input] }
                    unsafe to[frame] = sum
                }
            }
        }
    }
}
