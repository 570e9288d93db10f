import FLV
import MediaCore
import SeededRandom
import Testing

@Suite struct NALUnitsTests {
    private func units(annexB bytes: [UInt8]) -> [Range<Int>] {
        var reader = AnnexBReader(bytes.span.bytes)
        var units: [Range<Int>] = []
        while let unit = reader.next() { units.append(unit) }
        return units
    }

    private func lengthPrefixed(_ bytes: [UInt8], capacity: Int? = nil) -> [UInt8]? {
        var output = [UInt8](
            repeating: 0xcc, count: capacity ?? NALUnits.maximumLengthPrefixedBytes(annexBBytes: bytes.count))
        let written = output.withUnsafeMutableBytes {
            NALUnits.lengthPrefixed(annexB: bytes.span.bytes, codec: .h264, into: $0)
        }
        return written.map { Array(output.prefix($0)) }
    }

    @Test func bothStartCodesAndZeroPadding() {
        let three: [UInt8] = [0, 0, 0, 1, 0x65, 1, 0, 0, 1, 0x41, 2, 0, 0, 0, 0, 1, 6, 0, 0]
        #expect(units(annexB: three) == [4..<6, 9..<11, 16..<17])
        #expect(units(annexB: [9, 9, 0, 0, 1, 0x65]) == [5..<6])
        #expect(units(annexB: [0, 0, 1, 0, 0, 1, 0x65]) == [6..<7])
        for empty: [UInt8] in [[], [0], [0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 0, 0], [1, 2, 3]] {
            #expect(units(annexB: empty) == [])
        }
    }

    @Test func parameterSetsDelimitersAndFillerAreLeftOut() {
        let accessUnit: [UInt8] =
            [0, 0, 0, 1, 9, 0xf0] + [0, 0, 0, 1, 0x67, 1, 2] + [0, 0, 1, 0x68, 3] + [0, 0, 1, 6, 5, 0x80]
            + [0, 0, 1, 0x65, 7, 8] + [0, 0, 1, 0x0c, 0xff, 0x80]
        #expect(lengthPrefixed(accessUnit) == [0, 0, 0, 3, 6, 5, 0x80, 0, 0, 0, 3, 0x65, 7, 8])
        #expect(lengthPrefixed(accessUnit, capacity: 14) == [0, 0, 0, 3, 6, 5, 0x80, 0, 0, 0, 3, 0x65, 7, 8])
        #expect(lengthPrefixed(accessUnit, capacity: 13) == nil)
        #expect(lengthPrefixed([]) == [])
    }

    @Test func aFrameThatNoneRefersToIsDisposable() {
        for (bytes, isDisposable): ([UInt8], Bool) in [
            ([0, 0, 0, 2, 0x01, 9], true), ([0, 0, 0, 2, 0x41, 9], false), ([0, 0, 0, 1, 0x65], false),
            ([0, 0, 0, 1, 0x06, 0, 0, 0, 1, 0x01], true), ([0, 0, 0, 1, 0x06], false), ([0, 0, 0, 9, 0x01], false),
            ([], false),
        ] {
            #expect(NALUnits.isDisposable(bytes.span.bytes, codec: .h264) == isDisposable)
        }
    }

    @Test func lengthPrefixedIsReadBackAndChecked() throws {
        func units(_ bytes: [UInt8]) throws -> [Range<Int>] {
            var reader = LengthPrefixedReader(bytes.span.bytes)
            var units: [Range<Int>] = []
            while let unit = try reader.next() { units.append(unit) }
            return units
        }
        #expect(try units([0, 0, 0, 2, 0x65, 1, 0, 0, 0, 1, 6]) == [4..<6, 10..<11])
        #expect(try units([]) == [])
        for (bytes, error): ([UInt8], CodecConfigurationError) in [
            ([0, 0, 0], .truncated("NAL unit length")), ([0, 0, 0, 0], .invalid("empty NAL unit")),
            ([0, 0, 0, 2, 1], .truncated("NAL unit")), ([0xff, 0xff, 0xff, 0xff, 1], .truncated("NAL unit")),
        ] {
            #expect(throws: error) { try units(bytes) }
        }
    }

    /// Against a slow reference: split at every 00 00 01, strip zero bytes from the ends.
    @Test func findsWhatASlowReaderFinds() {
        var random = SplitMix64(seed: 3)
        for _ in 0..<4_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                [0, 0, 0, 1, 3, 0x65, 0x67].randomElement(using: &random)! as UInt8
            }
            var expected: [[UInt8]] = []
            var current: [UInt8]?
            var index = 0
            while index < bytes.count {
                if bytes[index...].starts(with: [0, 0, 1]) {
                    if let current { expected.append(current) }
                    current = []
                    index += 3
                } else {
                    current?.append(bytes[index])
                    index += 1
                }
            }
            if let current { expected.append(current) }
            expected = expected.map { Array($0.reversed().drop { $0 == 0 }.reversed()) }.filter { !$0.isEmpty }
            #expect(units(annexB: bytes).map { Array(bytes[$0]) } == expected)

            let kept = expected.filter { ![7, 8, 9, 12].contains($0[0] & 0x1f) }
            let framed = kept.map { [0, 0, 0, UInt8($0.count)] + $0 }.reduce([], +)
            #expect(lengthPrefixed(bytes) == framed)
        }
    }
}
