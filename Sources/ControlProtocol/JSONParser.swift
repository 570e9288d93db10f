/// Reads one JSON document (RFC 8259), strictly: no comments, no trailing commas, nothing after the document.
///
/// Recursion is bounded by `maxDepth`. The caller has to bound the size of the input, to which memory is proportional.
package struct JSONParser {
    package static let maxDepth = 32

    /// Why a text is not JSON, and the offset of the first wrong byte.
    package struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        package let what: String
        package let offset: Int
        package var description: String { "\(what) at byte \(offset)" }
    }

    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0

    package static func parse(_ bytes: [UInt8]) throws(Failure) -> JSONValue {
        var parser = JSONParser(bytes: bytes)
        let value = try parser.value()
        parser.skipSpace()
        guard parser.index == bytes.count else { throw parser.failure("something after the document") }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }
    private func failure(_ what: String) -> Failure { Failure(what: what, offset: index) }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        index += 1
        return true
    }

    private mutating func value() throws(Failure) -> JSONValue {
        skipSpace()
        switch current {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case UInt8(ascii: "-"), .some(0x30...0x39): return try number()
        case nil: throw failure("the document ends early")
        default: throw failure("no value begins here")
        }
    }

    private mutating func literal(_ text: String, _ value: JSONValue) throws(Failure) -> JSONValue {
        guard bytes[index...].starts(with: text.utf8) else { throw failure("no value begins here") }
        index += text.utf8.count
        return value
    }

    private mutating func enter() throws(Failure) {
        depth += 1
        guard depth <= Self.maxDepth else { throw failure("nested more than \(Self.maxDepth) deep") }
        index += 1
        skipSpace()
    }

    private mutating func array() throws(Failure) -> JSONValue {
        try enter()
        defer { depth -= 1 }
        var items: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return .array(items) }
        while true {
            items.append(try value())
            skipSpace()
            if take(UInt8(ascii: "]")) { return .array(items) }
            guard take(UInt8(ascii: ",")) else { throw failure("a comma or ] is missing") }
        }
    }

    private mutating func object() throws(Failure) -> JSONValue {
        try enter()
        defer { depth -= 1 }
        var members: [JSONValue.Member] = []
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw failure("a member's name is missing") }
            let name = try string()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw failure("a colon is missing") }
            members.append(JSONValue.Member(name, try value()))
            skipSpace()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw failure("a comma or } is missing") }
        }
    }

    private mutating func digits() -> Int {
        let start = index
        while let byte = current, (0x30...0x39).contains(byte) { index += 1 }
        return index - start
    }

    private mutating func number() throws(Failure) -> JSONValue {
        let start = index
        _ = take(UInt8(ascii: "-"))
        let leadingZero = current == UInt8(ascii: "0")
        let count = digits()
        guard count > 0, !leadingZero || count == 1 else { throw failure("not a number") }
        var isInteger = true
        if take(UInt8(ascii: ".")) {
            isInteger = false
            guard digits() > 0 else { throw failure("digits are missing after the point") }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits() > 0 else { throw failure("digits are missing in the exponent") }
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if isInteger, let value = Int(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw failure("a number is too large") }
        return .number(value)
    }

    private mutating func string() throws(Failure) -> String {
        index += 1
        var text: [UInt8] = []
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw failure("a string is not UTF-8")
                }
                return string
            case 0..<0x20: throw failure("a control character in a string")
            case UInt8(ascii: "\\"):
                index += 1
                text += try escape()
            default:
                text.append(byte)
                index += 1
            }
        }
        throw failure("a string does not end")
    }

    private mutating func escape() throws(Failure) -> [UInt8] {
        guard let byte = current else { throw failure("a string does not end") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            var code = UInt32(try hexadecimal())
            if (0xD800..<0xDC00).contains(code) {
                guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
                    throw failure("half of a surrogate pair")
                }
                let low = UInt32(try hexadecimal())
                guard (0xDC00..<0xE000).contains(low) else { throw failure("half of a surrogate pair") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw failure("half of a surrogate pair") }
            return Array(String(Character(scalar)).utf8)
        default: throw failure("an unknown escape")
        }
    }

    private mutating func hexadecimal() throws(Failure) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw failure("four hexadecimal digits are missing")
            }
            value = value << 4 | UInt16(digit)
            index += 1
        }
        return value
    }
}
