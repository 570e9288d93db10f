import IngestProtocol
import MediaCore
import SeededRandom
import Testing

@Suite struct MutationTests {
    /// Valid messages with bits turned over, fields overwritten and ends cut off. Whatever comes out, nothing may trap,
    /// and what is accepted must lie inside its payload.
    @Test(arguments: [UInt64(11), 12, 13, 14])
    func damagedMessagesNeverEscapeTheirBounds(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var (accepted, refused) = (0, 0)
        for _ in 0..<15_000 {
            let (message, payloadBytes) = AnyMessage.random(using: &generator)
            var encoded = message.encoded(sequence: 1, payloadBytes: payloadBytes)
            mutate(&encoded, using: &generator)
            do {
                let decoded = try AnyMessage.decode(encoded)
                accepted += 1
                expectInBounds(decoded.message, payloadBytes: decoded.header.payloadBytes)
            } catch {
                refused += 1
                #expect(error.message.utf8.count > 20 && !error.message.contains("\n"))
            }
        }
        // Both must happen, or the damage is too mild or too wild to test anything.
        #expect(accepted > 1_000 && refused > 1_000)
    }

    @Test func noiseNeverTraps() {
        var generator = SplitMix64(seed: 21)
        for _ in 0..<20_000 {
            var noise = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            if noise.count >= MessageHeader.byteCount {
                // A header that is believed, so that the body's decoder sees the noise.
                noise.replaceSubrange(0..<3, with: [0x55, 0x43, 1])
                noise[3] = MessageType.allCases.randomElement(using: &generator)!.rawValue
                noise[4] = UInt8(noise.count - MessageHeader.byteCount)
                noise[5] = 0
                if noise[3] == 2 || noise[3] == 3 || noise[3] == 4 {
                    noise[10] &= 7
                } else {
                    noise.replaceSubrange(8..<12, with: [0, 0, 0, 0])
                }
                noise[11] = 0
            }
            if let decoded = try? AnyMessage.decode(noise) {
                expectInBounds(decoded.message, payloadBytes: decoded.header.payloadBytes)
            }
        }
    }

    private func mutate(_ bytes: inout [UInt8], using generator: inout SplitMix64) {
        for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
            // Behind the magic, mostly: a broken magic tells nothing more the second time.
            let index = Int.random(in: min(3, bytes.count - 1)..<bytes.count, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            case 2: bytes[index] = [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &generator)!
            case 3:
                for offset in index..<min(index + 4, bytes.count) { bytes[offset] = 0xff }
            default:
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    bytes.removeLast(Int.random(in: 1...bytes.count, using: &generator))
                }
            }
        }
    }

    private func expectInBounds(_ message: AnyMessage, payloadBytes: Int) {
        switch message {
        case .video(let video):
            let format = video.format
            #expect((16...4096).contains(format.width) && (16...4096).contains(format.height))
            var end = 0
            for index in 0..<format.pixelFormat.planeCount {
                let shape = format.pixelFormat.plane(index)
                let (location, rows) = (format.plane(index), shape.rows(pictureHeight: format.height))
                #expect(location.offset >= end)
                #expect(location.stride >= shape.rowBytes(pictureWidth: format.width))
                end = location.offset + location.stride * (rows - 1) + shape.rowBytes(pictureWidth: format.width)
            }
            guard let shared = video.shared else {
                #expect(end <= payloadBytes)
                break
            }
            #expect(payloadBytes == 0 && end <= shared.byteCount)
            for memoryBytes in [8, 4096, 1 << 20, 1 << 40] {
                guard let (payload, word) = try? shared.ranges(in: memoryBytes) else { continue }
                #expect(payload.lowerBound >= 0 && payload.upperBound <= memoryBytes && payload.count >= end)
                #expect(word >= 0 && word + 8 <= memoryBytes && word % 8 == 0)
                #expect(!payload.overlaps(word..<word + 8))
            }
        case .audio(_, let audio):
            #expect(audio.frames > 0 && audio.payloadBytes == payloadBytes && payloadBytes <= 512 << 10)
            #expect((1...8).contains(audio.format.channels) && (8_000...192_000).contains(audio.format.sampleRate))
        default: break
        }
    }
}
