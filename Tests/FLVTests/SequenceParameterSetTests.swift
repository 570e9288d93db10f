import FLV
import SeededRandom
import Testing

@Suite struct SequenceParameterSetTests {
    private static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).map { offset in
            let start = hex.index(hex.startIndex, offsetBy: offset)
            return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16)!
        }
    }

    /// Parameter sets that x264 wrote.
    @Test(arguments: [
        ("6764001facd9405005bb011000000300100000030320f1831960", 100, 31, 1, 8, 1280, 720),
        ("674d401eeca05a126c0440000003004000000c87c50a6580", 77, 30, 1, 8, 720, 576),
        ("67f4000a919b288f6022000003000200000300641e244b2c", 244, 10, 3, 8, 64, 48),
        ("6742c028d900780227e5c044000003000400000300c83c60c920", 66, 40, 1, 8, 1920, 1080),
        ("677a000ab6cd947279e3f011000003000100000300320f122596", 122, 10, 2, 10, 100, 50),
        ("6764000aacd95ec044000003000400000300c83c489658", 100, 10, 1, 8, 16, 16),
        ("6764000df36505421e3e3f016c800000030080000019078a14cb", 100, 13, 0, 8, 322, 242),
        ("67640028acd94078071ea6c044000003000400000300c83c60c658", 100, 40, 1, 8, 1918, 886),
    ])
    func readsWhatX264Writes(
        hex: String, profile: Int, level: Int, chroma: Int, depth: Int, width: Int, height: Int
    ) throws {
        let set = try SequenceParameterSet(nal: Self.bytes(hex))
        #expect(Int(set.profile) == profile)
        #expect(Int(set.level) == level)
        #expect(Int(set.chromaFormat) == chroma)
        #expect(Int(set.lumaBitDepth) == depth)
        #expect(set.width == width)
        #expect(set.height == height)
    }

    /// Every optional part of the syntax (scaling lists, the three kinds of picture order, fields, cropping).
    @Test func readsEveryShapeOfTheSyntax() throws {
        var random = SplitMix64(seed: 4)
        for _ in 0..<2_000 {
            var expected: (width: Int, height: Int) = (0, 0)
            let nal = Self.anyParameterSet(&random, &expected)
            let set = try SequenceParameterSet(nal: nal)
            #expect(set.width == expected.width)
            #expect(set.height == expected.height)
        }
    }

    @Test func anyMutationIsReadOrRefused() {
        var random = SplitMix64(seed: 5)
        var refused = 0
        for _ in 0..<4_000 {
            var expected: (width: Int, height: Int) = (0, 0)
            let bytes = random.mutate(Self.anyParameterSet(&random, &expected))
            do throws(CodecConfigurationError) {
                let set = try SequenceParameterSet(nal: bytes)
                #expect((1...16_880).contains(set.width))
                #expect((1...33_760).contains(set.height))
            } catch {
                refused += 1
                #expect(!error.description.isEmpty)
            }
        }
        #expect(refused > 500)
    }

    @Test func refusesWithTheReason() {
        func error(_ bytes: [UInt8]) -> CodecConfigurationError? {
            #expect(throws: CodecConfigurationError.self) { try SequenceParameterSet(nal: bytes) }
        }
        #expect(error([]) == .truncated("sequence parameter set"))
        #expect(error([0x67, 0x64, 0x00]) == .truncated("sequence parameter set"))
        #expect(error([0x68, 0x64, 0x00]) == .invalid("NAL unit type 8 for a sequence parameter set"))
        // An Exp-Golomb code of more than 32 bits, as seq_parameter_set_id.
        #expect(error([0x67, 0x42, 0, 30, 0, 0, 3, 0, 0, 3, 0, 0, 3, 0xff]) == .invalid("sequence parameter set"))
        var huge = BitWriter()
        for value in [66, 0, 30] { huge.put(value, bits: 8) }
        for value in [0, 0, 2, 1] { huge.unsigned(value) }
        huge.flag(false)
        huge.unsigned(1 << 20)
        huge.unsigned(1)
        huge.put(0b110, bits: 3)
        #expect(error(huge.nal(header: 0x67)) == .invalid("H.264 picture size"))
    }

    private static func anyParameterSet(
        _ random: inout SplitMix64, _ size: inout (width: Int, height: Int)
    ) -> [UInt8] {
        var writer = BitWriter()
        let profile = [66, 77, 88, 100, 110, 122, 244].randomElement(using: &random)!
        for value in [profile, 0, 40] { writer.put(value, bits: 8) }
        writer.unsigned(Int.random(in: 0...31, using: &random))
        var chroma = 1
        if profile >= 100 {
            chroma = Int.random(in: 0...3, using: &random)
            writer.unsigned(chroma)
            if chroma == 3 { writer.flag(false) }
            writer.unsigned(Int.random(in: 0...6, using: &random))
            writer.unsigned(Int.random(in: 0...6, using: &random))
            writer.flag(false)
            let hasScaling = Bool.random(using: &random)
            writer.flag(hasScaling)
            if hasScaling { writeScalingLists(&writer, count: chroma == 3 ? 12 : 8, &random) }
        }
        writer.unsigned(4)
        let order = Int.random(in: 0...2, using: &random)
        writer.unsigned(order)
        if order == 0 { writer.unsigned(3) }
        if order == 1 {
            writer.flag(false)
            for _ in 0..<2 { writer.signed(Int.random(in: -100_000...100_000, using: &random)) }
            let count = Int.random(in: 0...5, using: &random)
            writer.unsigned(count)
            for _ in 0..<count { writer.signed(Int.random(in: -9...9, using: &random)) }
        }
        writer.unsigned(2)
        writer.flag(false)
        let macroblocks = (x: Int.random(in: 2...300, using: &random), y: Int.random(in: 2...300, using: &random))
        let framesOnly = Bool.random(using: &random)
        writer.unsigned(macroblocks.x - 1)
        writer.unsigned(macroblocks.y - 1)
        writer.flag(framesOnly)
        if !framesOnly { writer.flag(true) }
        writer.flag(true)
        size = (macroblocks.x * 16, macroblocks.y * 16 * (framesOnly ? 1 : 2))
        let crops = Bool.random(using: &random)
        writer.flag(crops)
        if crops {
            let crop = (0..<4).map { _ in Int.random(in: 0...3, using: &random) }
            for value in crop { writer.unsigned(value) }
            size.width -= (crop[0] + crop[1]) * (chroma == 1 || chroma == 2 ? 2 : 1)
            size.height -= (crop[2] + crop[3]) * (chroma == 1 ? 2 : 1) * (framesOnly ? 1 : 2)
        }
        writer.flag(false)
        return writer.nal(header: 0x67)
    }

    private static func writeScalingLists(_ writer: inout BitWriter, count: Int, _ random: inout SplitMix64) {
        for list in 0..<count {
            let isPresent = Bool.random(using: &random)
            writer.flag(isPresent)
            guard isPresent else { continue }
            var last = 8
            for _ in 0..<(list < 6 ? 16 : 64) {
                // One in ten ends the list: a next scale of zero.
                let next = Int.random(in: 0..<10, using: &random) == 0 ? 0 : Int.random(in: 1...255, using: &random)
                let delta = (next - last + 128 + 256) % 256 - 128
                writer.signed(delta)
                if next == 0 { break }
                last = next
            }
        }
    }
}
