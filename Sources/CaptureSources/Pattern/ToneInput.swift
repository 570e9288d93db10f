internal import Glibc
package import MediaCore

/// An endless sine wave at -12 dBFS in any PCM format, the same in all channels.
package final class ToneInput: AudioInput {
    package let format: AudioFormat
    package private(set) var samples: [UInt8] = []
    package let isFinite = false

    private let frequency: Int
    private var position: Int64 = 0
    private static let amplitude = 0.25

    /// - Parameter frequency: in Hz, less than half the sample rate.
    package init(format: AudioFormat, frequency: Int) throws(InputError) {
        guard frequency > 0, 2 * frequency < format.sampleRate else {
            throw InputError("a tone of \(frequency) Hz needs more than \(2 * frequency) samples a second")
        }
        self.format = format
        self.frequency = frequency
    }

    package func advance(frames: Int) -> Int {
        let bytes = frames * format.bytesPerFrame
        if samples.count != bytes { samples = [UInt8](repeating: 0, count: bytes) }
        let size = format.encoding.bytesPerSample
        for frame in 0..<frames {
            // A second has a whole number of periods, so the phase restarts each second and stays exact for days.
            let step = (Int(position) + frame) % format.sampleRate * frequency % format.sampleRate
            let value = Self.amplitude * sin(2 * Double.pi * Double(step) / Double(format.sampleRate))
            let bits = encoded(value)
            for channel in 0..<format.channels {
                let at = format.isInterleaved ? frame * format.channels + channel : channel * frames + frame
                store(bits, at: at * size, size)
            }
        }
        position += Int64(frames)
        return frames
    }

    private func encoded(_ value: Double) -> UInt32 {
        switch format.encoding {
        case .int16: UInt32(truncatingIfNeeded: Int32((value * 32_767).rounded()))
        case .int24: UInt32(truncatingIfNeeded: Int32((value * 8_388_607).rounded()))
        case .int32: UInt32(truncatingIfNeeded: Int64((value * 2_147_483_647).rounded()))
        case .float32: Float(value).bitPattern
        }
    }

    private func store(_ bits: UInt32, at offset: Int, _ size: Int) {
        for byte in 0..<size {
            let shift = 8 * (format.isBigEndian ? size - 1 - byte : byte)
            samples[offset + byte] = UInt8(truncatingIfNeeded: bits >> shift)
        }
    }
}
