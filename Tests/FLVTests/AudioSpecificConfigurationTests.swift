import FLV
import SeededRandom
import Testing

@Suite struct AudioSpecificConfigurationTests {
    @Test(arguments: [
        (48_000, 2, [0x11, 0x90]), (44_100, 2, [0x12, 0x10]), (44_100, 1, [0x12, 0x08]), (8_000, 1, [0x15, 0x88]),
        (96_000, 8, [0x10, 0x38]),
        // Rate 50,000 Hz in 24 bits: 00010 1111 000000001100001101010000 0010 000.
        (50_000, 2, [0x17, 0x80, 0x61, 0xa8, 0x10]),
    ] as [(Int, Int, [UInt8])])
    func goldenBytes(sampleRate: Int, channels: Int, bytes: [UInt8]) throws {
        let configuration = try AudioSpecificConfiguration(sampleRate: sampleRate, channels: channels)
        #expect(configuration.bytes == bytes)
        #expect(try AudioSpecificConfiguration(bytes) == configuration)
    }

    @Test func readsPastLibavcodecsExtension() throws {
        let read = try AudioSpecificConfiguration([0x11, 0x90, 0x56, 0xe5, 0x00])
        #expect(read.sampleRate == 48_000)
        #expect(read.channels == 2)
    }

    @Test func refusesWhatIsNotPlainLowComplexity() {
        func error(_ bytes: [UInt8]) -> CodecConfigurationError? {
            #expect(throws: CodecConfigurationError.self) { try AudioSpecificConfiguration(bytes) }
        }
        #expect(error([]) == .truncated("AudioSpecificConfig"))
        #expect(error([0x11]) == .truncated("AudioSpecificConfig"))
        #expect(error([0x2b, 0x92]) == .unsupported("MPEG-4 audio object type 5"))
        #expect(error([0x16, 0x90]) == .invalid("AAC sample rate index 13"))
        #expect(error([0x11, 0x80]) == .unsupported("AAC channel configuration 0"))
        #expect(error([0x11, 0x94]) == .unsupported("AAC with frames of 960 samples"))
        #expect(throws: CodecConfigurationError.unsupported("AAC with 7 channels")) {
            try AudioSpecificConfiguration(sampleRate: 48_000, channels: 7)
        }
        #expect(throws: CodecConfigurationError.unsupported("AAC at 0 Hz")) {
            try AudioSpecificConfiguration(sampleRate: 0, channels: 2)
        }
    }

    @Test func anyBytesAreReadOrRefused() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<4_000 {
            let count = Int.random(in: 0...6, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            guard let read = try? AudioSpecificConfiguration(bytes) else { continue }
            #expect(read.sampleRate > 0)
            #expect((1...8).contains(read.channels))
            #expect((try? AudioSpecificConfiguration(read.bytes)) == read)
        }
    }
}
