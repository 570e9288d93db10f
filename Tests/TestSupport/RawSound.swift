package import MediaCore

/// PCM as a capture client would send it: a format and the bytes that go with it.
package struct RawSound: Sendable {
    package let format: AudioFormat
    package let frames: Int
    package let payload: [UInt8]

    /// Writes the same samples to every channel.
    package init(_ samples: [Float], format: AudioFormat) {
        self.format = format
        frames = samples.count
        let encoded = samples.map { Self.encode($0, format) }
        var payload: [UInt8] = []
        payload.reserveCapacity(samples.count * format.bytesPerFrame)
        if format.isInterleaved {
            for sample in encoded { for _ in 0..<format.channels { payload += sample } }
        } else {
            for _ in 0..<format.channels { for sample in encoded { payload += sample } }
        }
        self.payload = payload
    }

    private static func encode(_ sample: Float, _ format: AudioFormat) -> [UInt8] {
        let bits: UInt32 =
            switch format.encoding {
            case .float32: sample.bitPattern
            case .int16: UInt32(bitPattern: Int32(sample * 32_767))
            case .int24: UInt32(bitPattern: Int32(sample * 8_388_607))
            case .int32: UInt32(bitPattern: Int32(Double(sample) * 2_147_483_647))
            }
        let little = (0..<format.encoding.bytesPerSample).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt32($0))) }
        return format.isBigEndian ? little.reversed() : little
    }
}
