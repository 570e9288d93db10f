import MediaCore

/// Writes samples as a client would: the tests' own way from floats to bytes, independent of the decoder's.
enum PCMEncoder {
    /// - Parameter channels: one array of samples a channel, all of one length.
    static func bytes(_ channels: [[Float]], _ format: AudioFormat) -> [UInt8] {
        precondition(channels.count == format.channels)
        let frames = channels[0].count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(frames * format.bytesPerFrame)
        if format.isInterleaved {
            for frame in 0..<frames {
                for channel in channels { append(channel[frame], format, to: &bytes) }
            }
        } else {
            for channel in channels {
                for sample in channel { append(sample, format, to: &bytes) }
            }
        }
        return bytes
    }

    /// The same samples on all channels.
    static func bytes(_ samples: [Float], _ format: AudioFormat) -> [UInt8] {
        bytes(Array(repeating: samples, count: format.channels), format)
    }

    private static func append(_ sample: Float, _ format: AudioFormat, to bytes: inout [UInt8]) {
        let count = format.encoding.bytesPerSample
        let bits: UInt32 =
            switch format.encoding {
            case .int16: UInt32(truncatingIfNeeded: quantized(sample, bits: 16))
            case .int24: UInt32(truncatingIfNeeded: quantized(sample, bits: 24))
            case .int32: UInt32(truncatingIfNeeded: quantized(sample, bits: 32))
            case .float32: sample.bitPattern
            }
        for index in 0..<count {
            let shift = 8 * (format.isBigEndian ? count - 1 - index : index)
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(shift)))
        }
    }

    private static func quantized(_ sample: Float, bits: Int) -> Int64 {
        let scale = Double(Int64(1) << Int64(bits - 1))
        return Int64(min(max((Double(sample) * scale).rounded(), -scale), scale - 1))
    }
}
