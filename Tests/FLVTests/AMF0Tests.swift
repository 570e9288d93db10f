import FLV
import SeededRandom
import Testing

@Suite struct AMF0Tests {
    /// The start of a publisher's connect command, as the specification and real clients write it.
    private static let connectBytes: [UInt8] =
        [0x02, 0x00, 0x07] + Array("connect".utf8) + [0x00, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0]
        + [0x03, 0x00, 0x03] + Array("app".utf8) + [0x02, 0x00, 0x04] + Array("live".utf8)
        + [0x00, 0x04] + Array("fpad".utf8) + [0x01, 0x00, 0x00, 0x00, 0x09, 0x05]

    private static let connectValues: [AMF0Value] = [
        .string("connect"), .number(1),
        .object([AMF0Property("app", .string("live")), AMF0Property("fpad", .boolean(false))]), .null,
    ]

    @Test func writesACommandAsTheSpecificationHasIt() {
        var writer = AMF0Writer()
        writer.string("connect")
        writer.number(1)
        writer.objectStart()
        writer.key("app")
        writer.string("live")
        writer.key("fpad")
        writer.boolean(false)
        writer.objectEnd()
        writer.null()
        #expect(writer.bytes == Self.connectBytes)
    }

    @Test func readsACommand() throws {
        #expect(try AMF0Reader.values(in: Self.connectBytes.span.bytes) == Self.connectValues)
        #expect(Self.connectValues[2]["app"]?.stringValue == "live")
        #expect(Self.connectValues[2]["none"] == nil)
        #expect(Self.connectValues[1].numberValue == 1)
    }

    @Test(arguments: [
        (AMF0Value.ecmaArray([AMF0Property("a", .null)]), [8, 0, 0, 0, 1, 0, 1, 0x61, 5, 0, 0, 9] as [UInt8]),
        (.strictArray([.boolean(true), .undefined]), [10, 0, 0, 0, 2, 1, 1, 6]),
        (.date(1000), [11, 0x40, 0x8f, 0x40, 0, 0, 0, 0, 0, 0, 0]),
        (.object([]), [3, 0, 0, 9]),
        (.number(-0.5), [0, 0xbf, 0xe0, 0, 0, 0, 0, 0, 0]),
    ])
    func goldenBytes(value: AMF0Value, bytes: [UInt8]) throws {
        var writer = AMF0Writer(appendingTo: [0xee])
        writer.value(value)
        #expect(writer.bytes == [0xee] + bytes)
        #expect(try AMF0Reader.values(in: bytes.span.bytes) == [value])
    }

    @Test func readsWhatIsNeverWritten() throws {
        let xml: [UInt8] = [0x0f, 0, 0, 0, 4] + Array("<a/>".utf8)
        let typed: [UInt8] = [0x10, 0, 1, 0x43, 0, 1, 0x78, 5, 0, 0, 9]
        let wrongCount: [UInt8] = [8, 0xff, 0xff, 0xff, 0xff, 0, 0, 9]
        let values = try AMF0Reader.values(in: (xml + typed + [0x0d] + wrongCount).span.bytes)
        #expect(values == [.string("<a/>"), .object([AMF0Property("x", .null)]), .undefined, .ecmaArray([])])
    }

    @Test func aStringBeyondSixteenBitsBecomesLong() throws {
        for (length, header) in [(65_535, [2, 0xff, 0xff] as [UInt8]), (65_536, [12, 0, 1, 0, 0])] {
            let text = String(repeating: "x", count: length)
            var writer = AMF0Writer()
            writer.string(text)
            #expect(Array(writer.bytes.prefix(header.count)) == header)
            let limits = AMF0Reader.Limits(bytes: 70_000)
            #expect(try AMF0Reader.values(in: writer.bytes.span.bytes, limits: limits) == [.string(text)])
        }
    }

    @Test func refusesWithTheReasonAndThePlace() {
        func error(_ bytes: [UInt8], _ limits: AMF0Reader.Limits = .init()) -> AMF0Error? {
            #expect(throws: AMF0Error.self) { try AMF0Reader.values(in: bytes.span.bytes, limits: limits) }
        }
        #expect(error([2, 0, 5, 0x61]) == .truncated(offset: 4))
        #expect(error([0, 1, 2]) == .truncated(offset: 3))
        #expect(error([5, 0x11]) == .unreadableMarker(0x11, offset: 1))
        #expect(error([7, 0, 0]) == .unreadableMarker(7, offset: 0))
        #expect(error([9]) == .unreadableMarker(9, offset: 0))
        #expect(error([3, 0, 1, 0x61, 5]) == .truncated(offset: 5))
        #expect(error([10, 0xff, 0xff, 0xff, 0xff, 5]) == .truncated(offset: 6))
        #expect(error([5, 5, 5], .init(values: 2)) == .tooManyValues(limit: 2))
        #expect(error([5, 5, 5], .init(bytes: 2)) == .inputTooLong(bytes: 3, limit: 2))
        let nested = [[UInt8]](repeating: [10, 0, 0, 0, 1], count: 9).reduce([], +) + [5]
        #expect(error(nested) == .tooDeep(limit: 8))
        #expect(error([10, 0xff, 0xff, 0xff, 0xff] + Array(repeating: 5, count: 1000)) == .tooManyValues(limit: 256))
    }

    @Test func everyValueSurvivesTheRoundTrip() throws {
        var random = SplitMix64(seed: 1)
        for _ in 0..<300 {
            let values = (0..<Int.random(in: 0...4, using: &random)).map { _ in Self.anyValue(depth: 0, &random) }
            var writer = AMF0Writer()
            for value in values { writer.value(value) }
            let limits = AMF0Reader.Limits(bytes: 1 << 20, values: 100_000)
            #expect(try AMF0Reader.values(in: writer.bytes.span.bytes, limits: limits) == values)
        }
    }

    @Test func anyMutationIsReadOrRefused() {
        var random = SplitMix64(seed: 2)
        var refused = 0
        for round in 0..<4_000 {
            var writer = AMF0Writer(appendingTo: round % 2 == 0 ? Self.connectBytes : [])
            writer.value(Self.anyValue(depth: 0, &random))
            let bytes = random.mutate(writer.bytes)
            do throws(AMF0Error) {
                let values = try AMF0Reader.values(in: bytes.span.bytes)
                #expect(values.count <= bytes.count)
            } catch {
                refused += 1
                #expect(!error.description.isEmpty)
            }
        }
        #expect(refused > 500)
    }

    private static func anyValue(depth: Int, _ random: inout SplitMix64) -> AMF0Value {
        func text() -> String {
            let length = Int.random(in: 1...12, using: &random)
            return String((0..<length).map { _ in "abc/é€😀?=&".randomElement(using: &random)! })
        }
        func properties() -> [AMF0Property] {
            (0..<Int.random(in: 0...3, using: &random)).map { _ in
                AMF0Property(text(), anyValue(depth: depth + 1, &random))
            }
        }
        switch Int.random(in: 0..<(depth < 4 ? 9 : 6), using: &random) {
        case 0: return .number(Double.random(in: -1e12...1e12, using: &random))
        case 1: return .boolean(Bool.random(using: &random))
        case 2: return .string(text())
        case 3: return .null
        case 4: return .undefined
        case 5: return .date(Double(Int.random(in: 0...1 << 40, using: &random)))
        case 6: return .object(properties())
        case 7: return .ecmaArray(properties())
        default:
            return .strictArray((0..<Int.random(in: 0...3, using: &random)).map { _ in
                anyValue(depth: depth + 1, &random)
            })
        }
    }
}
