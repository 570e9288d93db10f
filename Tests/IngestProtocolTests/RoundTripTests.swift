import IngestProtocol
import SeededRandom
import Testing

@Suite struct RoundTripTests {
    @Test func whatIsWrittenIsRead() throws {
        var generator = SplitMix64(seed: 1)
        var types = Set<UInt8>()
        for round in 0..<5_000 {
            let (message, payloadBytes) = AnyMessage.random(using: &generator)
            let sequence = UInt32.random(in: 0 ... .max, using: &generator)
            let encoded = message.encoded(sequence: sequence, payloadBytes: payloadBytes)
            let decoded = try AnyMessage.decode(encoded)
            #expect(decoded.message == message, "round \(round)")
            #expect(decoded.header.sequence == sequence)
            #expect(decoded.header.payloadBytes == payloadBytes)
            #expect(encoded.count == MessageHeader.byteCount + decoded.header.bodyBytes)
            #expect(encoded.count % 4 == 0)
            types.insert(encoded[3])
        }
        #expect(types == Set(MessageType.allCases.map(\.rawValue)), "a type is never drawn")
    }

    /// Fields that a later version adds are extensions: this version must read past them.
    @Test func extensionsThatAreNotCriticalAreSkipped() throws {
        var generator = SplitMix64(seed: 2)
        for _ in 0..<2_000 {
            let (message, payloadBytes) = AnyMessage.random(using: &generator)
            var encoded = message.encoded(sequence: 7, payloadBytes: payloadBytes)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let value = (0..<Int.random(in: 0...9, using: &generator)).map { UInt8($0) }
                appendExtension(tag: .random(in: 3...0x7fff, using: &generator), value, to: &encoded)
            }
            #expect(try AnyMessage.decode(encoded).message == message)
        }
    }
}

/// Adds an extension to an encoded message and corrects its header.
func appendExtension(tag: UInt16, _ value: [UInt8], to message: inout [UInt8]) {
    message += [UInt8(tag & 0xff), UInt8(tag >> 8), UInt8(value.count & 0xff), UInt8(value.count >> 8)] + value
    message += [UInt8](repeating: 0, count: -value.count & 3)
    let bodyBytes = message.count - MessageHeader.byteCount
    message[4] = UInt8(bodyBytes & 0xff)
    message[5] = UInt8(bodyBytes >> 8)
}
