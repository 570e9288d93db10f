import FLV
import SeededRandom
import Testing

@Suite struct AVCDecoderConfigurationTests {
    private static let high: [UInt8] = [
        0x67, 0x64, 0x00, 0x1f, 0xac, 0xd9, 0x40, 0x50, 0x05, 0xbb, 0x01, 0x10, 0x00, 0x00, 0x03, 0x00, 0x10, 0x00,
        0x00, 0x03, 0x03, 0x20, 0xf1, 0x83, 0x19, 0x60,
    ]
    private static let main: [UInt8] = [
        0x67, 0x4d, 0x40, 0x1e, 0xec, 0xa0, 0x5a, 0x12, 0x6c, 0x04, 0x40, 0x00, 0x00, 0x03, 0x00, 0x40, 0x00, 0x00,
        0x0c, 0x87, 0xc5, 0x0a, 0x65, 0x80,
    ]
    private static let picture: [UInt8] = [0x68, 0xeb, 0xe3, 0xcb, 0x22, 0xc0]

    @Test func recordOfAHighProfileCarriesChromaAndDepth() throws {
        let annexB = [0, 0, 0, 1] + Self.high + [0, 0, 0, 1] + Self.picture + [0, 0, 1, 6, 5, 1, 0, 0x80]
        let configuration = try AVCDecoderConfiguration(extradata: annexB)
        #expect(
            configuration.record
                == [1, 0x64, 0, 0x1f, 0xff, 0xe1, 0, 26] + Self.high + [1, 0, 6] + Self.picture + [0xfd, 0xf8, 0xf8, 0])
        #expect(configuration.parameters.width == 1280)
        #expect(configuration.parameters.height == 720)
        #expect(try AVCDecoderConfiguration(extradata: configuration.record) == configuration)
    }

    @Test func recordOfMainProfileDoesNot() throws {
        let configuration = try AVCDecoderConfiguration(
            sequenceParameterSets: [Self.main], pictureParameterSets: [Self.picture, Self.picture])
        let record: [UInt8] =
            [1, 0x4d, 0x40, 0x1e, 0xff, 0xe1, 0, 24] + Self.main + [2, 0, 6] + Self.picture + [0, 6] + Self.picture
        #expect(configuration.record == record)
        #expect(try AVCDecoderConfiguration(extradata: record) == configuration)
    }

    @Test func refusesWithTheReason() throws {
        func error(_ extradata: [UInt8]) -> CodecConfigurationError? {
            #expect(throws: CodecConfigurationError.self) { try AVCDecoderConfiguration(extradata: extradata) }
        }
        let start: [UInt8] = [0, 0, 0, 1]
        #expect(error([]) == .truncated("H.264 extradata"))
        #expect(error([0]) == .invalid("H.264 extradata with 0 sequence parameter sets"))
        #expect(error(start + Self.high) == .invalid("H.264 extradata with 0 picture parameter sets"))
        #expect(error(start + Self.high.prefix(4) + start + Self.picture) == .truncated("sequence parameter set"))
        let record = try AVCDecoderConfiguration(
            sequenceParameterSets: [Self.high], pictureParameterSets: [Self.picture]).record
        for length in 1..<(record.count - 4) {
            #expect(error(Array(record.prefix(length))) != nil)
        }
        var shortLengths = record
        shortLengths[4] = 0xfd
        #expect(error(shortLengths) == .unsupported("NAL unit length of 2 bytes"))
        var wrongType = record
        wrongType[8 + Self.high.count + 3] = 0x65
        #expect(error(wrongType) == .invalid("H.264 picture parameter set"))
    }

    @Test func anyMutationIsReadOrRefused() throws {
        var random = SplitMix64(seed: 6)
        let configuration = try AVCDecoderConfiguration(
            sequenceParameterSets: [Self.high, Self.main], pictureParameterSets: [Self.picture])
        for _ in 0..<4_000 {
            let mutated = random.mutate(configuration.record)
            guard let read = try? AVCDecoderConfiguration(extradata: mutated) else { continue }
            #expect((try? AVCDecoderConfiguration(extradata: read.record)) == read)
        }
    }
}
