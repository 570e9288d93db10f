@testable import Publishing
import SeededRandom
import Testing

/// All messages that a reader finds in `bytes`, fed in portions whose sizes `portion` returns.
private func read(
    _ bytes: [UInt8], portion: () -> Int = { Int.max }
) throws(RTMPProtocolError) -> [RTMPMessage] {
    var reader = RTMPChunkReader()
    var messages: [RTMPMessage] = []
    var start = 0
    while start < bytes.count {
        let count = min(portion(), bytes.count - start)
        let part = Array(bytes[start..<(start + count)])
        var position = 0
        while let message = try reader.next(from: part.span, at: &position) { messages.append(message) }
        guard position == part.count else { throw .badCommand("the reader left bytes unread") }
        start += count
    }
    return messages
}

@Suite struct RTMPChunkReaderTests {
    @Test func readsEveryHeaderFormat() throws {
        var writer = ChunkWriter()
        writer.message(20, [1, 2, 3], stream: 3, time: 100, streamID: 7)
        writer.message(20, [4, 5], stream: 3, time: 10, format: 1)
        writer.header(format: 2, stream: 3, time: 20)
        writer.bytes += [6, 7]
        writer.basicHeader(format: 3, stream: 3)
        writer.bytes += [8, 9]
        writer.message(3, [0, 0, 1, 0], stream: 2)
        #expect(try read(writer.bytes) == [
            RTMPMessage(type: .commandAMF0, streamID: 7, payload: [1, 2, 3]),
            RTMPMessage(type: .commandAMF0, streamID: 7, payload: [4, 5]),
            RTMPMessage(type: .commandAMF0, streamID: 7, payload: [6, 7]),
            RTMPMessage(type: .commandAMF0, streamID: 7, payload: [8, 9]),
            RTMPMessage(type: .acknowledgement, streamID: 0, payload: [0, 0, 1, 0]),
        ])
    }

    /// Bug: pyrtmp begins a chunk stream with a header of type 1, which other publishers accept. It was refused.
    @Test func aFirstHeaderOfType1IsForStream0() throws {
        var writer = ChunkWriter()
        writer.message(20, [UInt8](repeating: 1, count: 200), stream: 3, time: 0x0123_4567, format: 1)
        writer.message(20, [2], stream: 3, format: 1)
        writer.message(20, [3], stream: 3, streamID: 7)
        writer.message(20, [4], stream: 3, format: 1)
        writer.message(20, [5], stream: 64, format: 1)
        #expect(try read(writer.bytes) == [
            RTMPMessage(type: .commandAMF0, streamID: 0, payload: [UInt8](repeating: 1, count: 200)),
            RTMPMessage(type: .commandAMF0, streamID: 0, payload: [2]),
            RTMPMessage(type: .commandAMF0, streamID: 7, payload: [3]),
            RTMPMessage(type: .commandAMF0, streamID: 7, payload: [4]),
            RTMPMessage(type: .commandAMF0, streamID: 0, payload: [5]),
        ])
    }

    @Test func readsLongChunkStreamNumbersAndExtendedTimestamps() throws {
        let payload = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        var writer = ChunkWriter()
        for stream in [2, 63, 64, 319, 320, 65_599] {
            writer.message(20, payload, stream: stream, time: 0x0123_4567, streamID: 1)
        }
        #expect(try read(writer.bytes) == Array(
            repeating: RTMPMessage(type: .commandAMF0, streamID: 1, payload: payload), count: 6))
    }

    @Test func interleavesChunkStreams() throws {
        var writer = ChunkWriter()
        writer.header(format: 0, stream: 3, length: 130, type: 20)
        writer.bytes += [UInt8](repeating: 1, count: 128)
        writer.message(3, [0, 0, 0, 9], stream: 2)
        writer.header(format: 0, stream: 5, length: 129, type: 20)
        writer.bytes += [UInt8](repeating: 2, count: 128)
        writer.basicHeader(format: 3, stream: 3)
        writer.bytes += [1, 1]
        writer.basicHeader(format: 3, stream: 5)
        writer.bytes += [2]
        #expect(try read(writer.bytes) == [
            RTMPMessage(type: .acknowledgement, streamID: 0, payload: [0, 0, 0, 9]),
            RTMPMessage(type: .commandAMF0, streamID: 0, payload: [UInt8](repeating: 1, count: 130)),
            RTMPMessage(type: .commandAMF0, streamID: 0, payload: [UInt8](repeating: 2, count: 129)),
        ])
    }

    @Test func obeysChunkSizeAndAbortAndSkipsMedia() throws {
        var writer = ChunkWriter()
        writer.header(format: 0, stream: 3, length: 500, type: 20)
        writer.bytes += [UInt8](repeating: 1, count: 128)
        writer.message(2, [0, 0, 0, 3], stream: 2)
        writer.setChunkSize(4096)
        writer.message(9, [UInt8](repeating: 9, count: 100_000), stream: 6)
        writer.message(99, [1, 2, 3], stream: 7)
        writer.message(20, [], stream: 3)
        writer.message(20, [5], stream: 3)
        #expect(try read(writer.bytes) == [
            RTMPMessage(type: .commandAMF0, streamID: 0, payload: []),
            RTMPMessage(type: .commandAMF0, streamID: 0, payload: [5]),
        ])
    }

    @Test func refusesWhatWouldCostMemoryOrMakesNoSense() {
        func error(_ build: (inout ChunkWriter) -> Void) -> RTMPProtocolError? {
            var writer = ChunkWriter()
            build(&writer)
            do { _ = try read(writer.bytes) } catch { return error }
            return nil
        }
        // Here librtmp reuses the short body for the longer message: a heap overflow.
        #expect(error {
            $0.header(format: 0, stream: 3, length: 200, type: 20)
            $0.bytes += [UInt8](repeating: 0, count: 128)
            $0.header(format: 1, stream: 3, length: 200_000, type: 20)
        } == .headerWithinMessage(chunkStream: 3))
        #expect(error { $0.header(format: 0, stream: 3, length: 0xff_ffff, type: 20) }
            == .messageTooLong(type: 20, bytes: 0xff_ffff, limit: 16_384))
        #expect(error { writer in
            for stream in 3..<12 {
                writer.header(format: 0, stream: stream, length: 0xff_ffff, type: 9)
                writer.bytes += [UInt8](repeating: 0, count: 128)
            }
        } == .tooManyChunkStreams(limit: 8))
        #expect(error { $0.basicHeader(format: 3, stream: 3) } == .headerWithoutPredecessor(chunkStream: 3))
        #expect(error { $0.header(format: 2, stream: 3) } == .headerWithoutPredecessor(chunkStream: 3))
        for size in [0, 0x8000_0000, 0xffff_ffff] {
            #expect(error { $0.message(1, ChunkWriter.bigEndian(size, 4), stream: 2) } == .badChunkSize(UInt32(size)))
        }
        #expect(error { $0.message(1, [1], stream: 2) } == .badControlMessage(type: 1, bytes: 1))
        #expect(error { $0.message(2, [], stream: 2) } == .badControlMessage(type: 2, bytes: 0))
    }

    /// Any messages, chunked in any way and fed in any portions, come out unchanged.
    @Test(arguments: 0..<40) func roundTripsInAnyPortions(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var writer = ChunkWriter()
        var expected: [RTMPMessage] = []
        var seen: Set<Int> = []
        for _ in 0..<40 {
            if Int.random(in: 0..<6, using: &random) == 0 {
                writer.setChunkSize(Int.random(in: 1...5000, using: &random))
                seen.insert(2)
            }
            let stream = [3, 4, 64, 70, 320, 2].randomElement(using: &random)!
            let payload = (0..<Int.random(in: 0...700, using: &random)).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let format = seen.contains(stream) ? Int.random(in: 0...1, using: &random) : 0
            let time = [0, 500, 0xff_fffe, 0xff_ffff, 0x7fff_ffff].randomElement(using: &random)!
            writer.message(20, payload, stream: stream, time: time, format: format)
            seen.insert(stream)
            expected.append(RTMPMessage(type: .commandAMF0, streamID: 0, payload: payload))
        }
        let largest = Int.random(in: 1...400, using: &random)
        #expect(try read(writer.bytes) { Int.random(in: 1...largest, using: &random) } == expected)
    }

    /// Mutated input yields messages or a named error, never a trap, and no message beyond the limit.
    @Test(arguments: 0..<8) func survivesMutation(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var writer = ChunkWriter()
        writer.message(5, [0, 0x26, 0x25, 0xa0], stream: 2)
        writer.setChunkSize(256)
        writer.message(20, (0..<600).map { UInt8(truncatingIfNeeded: $0) }, stream: 3, time: 0x0100_0000)
        writer.message(8, [UInt8](repeating: 1, count: 300), stream: 4)
        writer.message(20, [1, 2, 3], stream: 3, time: 5, format: 1)
        for _ in 0..<400 {
            var bytes = writer.bytes
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                let byte = UInt8.random(in: 0...255, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = byte
                case 1: bytes.removeSubrange(..<(index / 2))
                default: bytes.insert(byte, at: index)
                }
            }
            if let messages = try? read(bytes, portion: { Int.random(in: 1...64, using: &random) }) {
                if messages.contains(where: { $0.payload.count > RTMPChunkReader.maximumMessageBytes }) {
                    Issue.record("a message beyond the limit, seed \(seed)")
                }
            }
        }
    }
}
