import ControlProtocol
import Foundation
import SeededRandom
import Testing

@Suite struct JSONTests {
    private func text(_ value: JSONValue) -> String { String(decoding: value.serialized(), as: UTF8.self) }

    @Test(arguments: [
        ("plain", #""plain""#),
        ("a\"b\\c/d", #""a\"b\\c/d""#),
        ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#),
        ("\0\u{1}\u{1F}\u{7F}", #""\u0000\u0001\u001f\u007f""#),
        ("é 漢 😀 \u{2028}", #""é 漢 😀 \u2028""#),
    ])
    func stringsAreEscaped(string: String, expected: String) {
        #expect(text(.string(string)) == expected)
    }

    @Test func numbers() {
        #expect(
            text(
                .array([.integer(.min), .integer(.max), .number(0.5), .number(1e-7), .number(.nan), .number(.infinity)])
            )
                == "[-9223372036854775808,9223372036854775807,0.5,1e-07,null,null]")
    }

    @Test func prettyTextIsIndented() {
        let value = JSONValue.object([.init("a", .array([.integer(1), .object([])])), .init("b", .null)])
        let expected = """
            {
              "a": [
                1,
                {}
              ],
              "b": null
            }
            """
        #expect(String(decoding: value.serialized(pretty: true), as: UTF8.self) == expected)
    }

    /// Promise: an answer that is read in a terminal as it is acts on nothing there.
    @Test func nothingHidesInIt() throws {
        let value = JSONValue.string("a\u{1b}\u{9b}\u{85}\u{202e}\u{2028}\u{ad}\u{e0041}é画")
        let written = String(decoding: value.serialized(), as: UTF8.self)
        #expect(written == #""a\u001b\u009b\u0085\u202e\u2028\u00ad\udb40\udc41é画""#)
        #expect(try JSONParser.parse(Array(written.utf8)) == value)
    }

    /// Whatever is written, our parser and Foundation's read the same.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func writtenIsReadBack(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let value = JSONValue.object([.init("root", Self.random(&generator, depth: 4))])
        for pretty in [false, true] {
            let bytes = value.serialized(pretty: pretty)
            #expect(try JSONParser.parse(bytes) == value)
            let foundation = try JSONSerialization.jsonObject(with: Data(bytes))
            #expect(Self.same(value, foundation), "\(String(decoding: bytes, as: UTF8.self))")
        }
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\":1,}", "{a:1}", "[1 2]", "nul", "01", "-", "1.", ".5", "1e", "+1", "\"", "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\u{1}\"", "1 2", "[1]]", "'a'", "1e999", "\u{FEFF}1",
        String(repeating: "[", count: 33) + String(repeating: "]", count: 33)
    ])
    func notJSON(text: String) {
        #expect(throws: JSONParser.Failure.self) { try JSONParser.parse(Array(text.utf8)) }
    }

    @Test(arguments: [
        (" [ 1 , -2.5e1 ] ", JSONValue.array([.integer(1), .number(-25)])),
        (#""\ud83d\ude00\u00e9\/""#, .string("😀é/")),
        ("1e20", .number(1e20)), ("100000000000000000000", .number(1e20)),
        ("-0", .integer(0)),
        (
            String(repeating: "[", count: 32) + String(repeating: "]", count: 32),
            (0..<31).reduce(.array([])) { value, _ in .array([value]) }
        )
    ])
    func isJSON(text: String, expected: JSONValue) throws {
        #expect(try JSONParser.parse(Array(text.utf8)) == expected)
    }

    @Test func bytesThatAreNotUTF8AreRefused() {
        #expect(throws: JSONParser.Failure.self) { try JSONParser.parse([0x22, 0xC3, 0x28, 0x22]) }
    }

    /// No bytes make the parser crash: neither noise nor a document with some bytes replaced.
    @Test(arguments: 0..<300 as Range<UInt64>)
    func noiseIsRefusedOrRead(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var bytes = Self.random(&generator, depth: 4).serialized()
        for _ in 0..<3 where !bytes.isEmpty {
            bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        if let value = try? JSONParser.parse(bytes) {
            #expect((try? JSONParser.parse(value.serialized())) == value)
        }
    }

    private static func random(_ generator: inout SplitMix64, depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &generator) {
        case 0: return .null
        case 1: return .bool(.random(using: &generator))
        case 2:
            return .integer(Int(truncatingIfNeeded: generator.next() >> UInt64.random(in: 0..<64, using: &generator)))
        case 3: return .number(Double.random(in: -1e6...1e6, using: &generator))
        case 4: return .string(randomString(&generator))
        case 5:
            return .array(
                (0..<Int.random(in: 0..<4, using: &generator)).map { _ in random(&generator, depth: depth - 1) })
        default:
            return .object(
                (0..<Int.random(in: 0..<4, using: &generator)).map {
                    .init("\($0)" + randomString(&generator), random(&generator, depth: depth - 1))
                })
        }
    }

    private static func randomString(_ generator: inout SplitMix64) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0..<12, using: &generator) {
            let ranges: [ClosedRange<UInt32>] = [
                0...0x1F, 0x20...0x7F, 0x80...0x7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF
            ]
            let range = ranges.randomElement(using: &generator)!
            text.append(Unicode.Scalar(UInt32.random(in: range, using: &generator))!)
        }
        return String(text)
    }

    private static func same(_ value: JSONValue, _ other: Any) -> Bool {
        switch value {
        case .null: other is NSNull
        case .bool(let value): other as? Bool == value
        case .integer(let value): (other as? NSNumber)?.int64Value == Int64(value)
        // Foundation may miss the last digits; our own parser is held to it above.
        case .number(let value): (other as? NSNumber).map { abs($0.doubleValue - value) <= abs(value) * 1e-14 } ?? false
        // Swift compares by canonical equivalence; here every scalar counts.
        case .string(let value): (other as? String).map { Array($0.unicodeScalars) } == Array(value.unicodeScalars)
        case .array(let items):
            (other as? [Any]).map { $0.count == items.count && zip(items, $0).allSatisfy { same($0, $1) } } ?? false
        case .object(let members):
            (other as? [String: Any]).map { dictionary in
                dictionary.count == members.count
                    && members.allSatisfy { member in dictionary[member.name].map { same(member.value, $0) } ?? false }
            } ?? false
        }
    }
}
