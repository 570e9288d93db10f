internal import MediaCore
internal import Wording

/// How values of one type are parsed, checked and rendered. Rendered text parses to the same value.
struct ValueKind<Value: Sendable>: Sendable {
    /// The allowed values: "integer, 1 to 16", "one of fit, fill, stretch".
    let summary: String
    let parse: @Sendable (String) throws(ValueProblem) -> Value
    /// The value as YAML text.
    let render: @Sendable (Value) -> String
    var schema = ValueSchema.text
}

/// A value as `/config` shows it, for docs/openapi.json.
enum ValueSchema: Sendable {
    case text, boolean, bytes, options
    case integer(ClosedRange<Int>, even: Bool)
    case number(ClosedRange<Double>)
    case choice([Int])
    case names([String])
}

/// Why a text is not a valid value. `what` quotes the text only if it cannot be a secret.
struct ValueProblem: Error, Equatable {
    var what: String
    var remedy: String
}

extension ValueKind where Value == Int {
    /// - Parameter units: may follow the number.
    static func integer(
        _ range: ClosedRange<Int>, even: Bool = false, scale: Int = 1, units: ValueUnits? = nil
    ) -> ValueKind {
        let summary = "\(even ? "even integer" : "integer"), \(range.lowerBound) to \(range.upperBound)"
        let remedy = "write an \(summary)" + (units.map { ", \($0.note)" } ?? "")
        return ValueKind(
            summary: summary,
            parse: { text throws(ValueProblem) in
                let written = isInteger(text) ? nil : try units?.parse(text)
                let value = if let written { written } else { try number(text, remedy) }
                guard range.contains(value), !even || value % 2 == 0 else {
                    let shown = written == nil ? "\(value)" : "\(printable(text))"
                    throw ValueProblem(what: "\(shown) is not allowed", remedy: remedy)
                }
                return value * scale
            },
            render: { "\($0 / scale)" },
            schema: .integer(range, even: even))
    }

    /// Kilobits a second, as bits a second; or with a unit.
    static func kilobits(_ range: ClosedRange<Int>) -> ValueKind { integer(range, scale: 1000, units: .bitrate) }

    static func choice(_ values: [Int]) -> ValueKind {
        let summary = "one of " + values.map { "\($0)" }.joined(separator: ", ")
        return ValueKind(
            summary: summary,
            parse: { text throws(ValueProblem) in
                guard let value = Int(text), values.contains(value) else {
                    throw ValueProblem(what: "\"\(printable(text))\" is not allowed", remedy: "write \(summary)")
                }
                return value
            },
            render: { "\($0)" },
            schema: .choice(values))
    }

    /// A number of bytes: plain, or with the suffix KiB, MiB or GiB.
    static func bytes(_ range: ClosedRange<Int>) -> ValueKind {
        let summary = "size in bytes, \(text(bytes: range.lowerBound)) to \(text(bytes: range.upperBound))"
        return ValueKind(
            summary: summary,
            parse: { text throws(ValueProblem) in
                let suffix = ValueUnits.bytes.sizes.first { text.hasSuffix($0.suffix) }
                let digits = text.dropLast(suffix?.suffix.count ?? 0)
                let bytes: Int
                if isDigits(digits), let count = Int(digits) {
                    let (product, overflow) = count.multipliedReportingOverflow(by: suffix?.size ?? 1)
                    bytes = overflow ? -1 : product
                } else if suffix != nil, let parsed = try ValueUnits.bytes.parse(text) {
                    bytes = parsed
                } else {
                    throw ValueProblem(
                        what: "\"\(printable(text))\" is not a size in bytes",
                        remedy: "write a size such as \(self.text(bytes: max(range.lowerBound, 64 << 10)))")
                }
                guard range.contains(bytes) else {
                    throw ValueProblem(
                        what: "\(printable(text)) is not allowed",
                        remedy: "write \(self.text(bytes: range.lowerBound)) to \(self.text(bytes: range.upperBound))")
                }
                return bytes
            },
            render: { self.text(bytes: $0) },
            schema: .bytes)
    }

    private static func text(bytes: Int) -> String {
        if bytes >= 1 << 20, bytes % (1 << 20) == 0 { return "\(bytes >> 20)MiB" }
        if bytes >= 1 << 10, bytes % (1 << 10) == 0 { return "\(bytes >> 10)KiB" }
        return "\(bytes)"
    }
}

extension ValueKind where Value == MediaTime {
    static func milliseconds(_ range: ClosedRange<Int>) -> ValueKind {
        let integer = ValueKind<Int>.integer(range, units: .duration)
        return ValueKind(
            summary: integer.summary,
            parse: { text throws(ValueProblem) in .milliseconds(Int64(try integer.parse(text))) },
            render: { "\($0.milliseconds)" },
            schema: integer.schema)
    }
}

extension ValueKind where Value == Double {
    static func decibels(_ range: ClosedRange<Double>) -> ValueKind {
        let summary = "number, \(short(range.lowerBound)) to \(short(range.upperBound))"
        return ValueKind(
            summary: summary,
            parse: { text throws(ValueProblem) in
                // The parser of Double also accepts "nan", "inf" and hexadecimal numbers.
                guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2B || $0 == 0x2E }),
                    let value = Double(text)
                else {
                    throw ValueProblem(what: "\"\(printable(text))\" is not a number", remedy: "write a \(summary)")
                }
                guard range.contains(value) else {
                    throw ValueProblem(what: "\(short(value)) is not allowed", remedy: "write a \(summary)")
                }
                return value
            },
            render: { short($0) },
            schema: .number(range))
    }

    private static func short(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e9 ? "\(Int(value))" : "\(value)"
    }
}

extension ValueKind where Value == Bool {
    static var boolean: ValueKind {
        ValueKind(
            summary: "true or false",
            parse: { text throws(ValueProblem) in
                switch text {
                case "true": return true
                case "false": return false
                default:
                    throw ValueProblem(
                        what: "\"\(printable(text))\" is neither true nor false", remedy: "write true or false")
                }
            },
            render: { $0 ? "true" : "false" },
            schema: .boolean)
    }
}

extension ValueKind where Value == UInt32 {
    /// Permission bits of a socket. The owner must have read and write permission.
    static var fileMode: ValueKind {
        ValueKind(
            summary: "octal permission bits in quotes, \"0600\" to \"0777\"",
            parse: { text throws(ValueProblem) in
                guard (3...4).contains(text.utf8.count), isDigits(text[...]), let mode = UInt32(text, radix: 8),
                    (0o600...0o777).contains(mode)
                else {
                    throw ValueProblem(
                        what: "\"\(printable(text))\" is not a valid socket mode",
                        remedy: "write octal digits such as \"0660\"")
                }
                return mode
            },
            render: { "\"0\(String($0, radix: 8))\"" })
    }
}

extension ValueKind where Value == FrameRate {
    static var frameRate: ValueKind {
        ValueKind(
            summary: "1 to 120, as a number or a fraction such as \"30000/1001\"",
            parse: { text throws(ValueProblem) in
                let parts = text.split(separator: "/", omittingEmptySubsequences: false)
                guard parts.count <= 2, parts.allSatisfy({ isDigits($0) && $0.utf8.count <= 6 }),
                    let numerator = Int(parts[0]),
                    let denominator = parts.count == 2 ? Int(parts[1]) : 1
                else {
                    throw ValueProblem(
                        what: "\"\(printable(text))\" is not a frame rate",
                        remedy: "write a rate such as \"30\" or \"30000/1001\"")
                }
                guard denominator > 0, numerator >= denominator, numerator <= 120 * denominator else {
                    throw ValueProblem(what: "\(text) frames a second are not allowed", remedy: "write 1 to 120")
                }
                return FrameRate(numerator, denominator)
            },
            render: { "\"\($0)\"" })
    }
}

extension ValueKind where Value == RGBColor {
    static var color: ValueKind {
        ValueKind(
            summary: "colour as \"#rrggbb\", in quotes",
            parse: { text throws(ValueProblem) in
                guard let color = RGBColor(text) else {
                    throw ValueProblem(
                        what: "\"\(printable(text))\" is not a colour",
                        remedy: "write a colour such as \"#000000\", in quotes")
                }
                return color
            },
            render: { "\"\($0)\"" })
    }
}

extension ValueKind where Value == RGBColor? {
    /// A colour, or empty for none.
    static var optionalColor: ValueKind {
        let color = ValueKind<RGBColor>.color
        return ValueKind(
            summary: "colour as \"#rrggbb\", in quotes, or \"\" for none",
            parse: { text throws(ValueProblem) in text.isEmpty ? nil : try color.parse(text) },
            render: { $0.map(color.render) ?? "\"\"" })
    }
}

extension ValueKind {
    /// One of a list of names.
    static func named(_ names: [(String, Value)]) -> ValueKind where Value: Equatable {
        let list = names.map(\.0)
        return ValueKind(
            summary: "one of " + list.joined(separator: ", "),
            parse: { text throws(ValueProblem) in
                if let found = names.first(where: { $0.0 == text }) { return found.1 }
                throw ValueProblem(
                    what: "\"\(printable(text))\" is not allowed",
                    remedy: didYouMean(text, list) ?? "write one of \(list.joined(separator: ", "))")
            },
            render: { value in names.first { $0.1 == value }?.0 ?? "" },
            schema: .names(list))
    }

    static func cases() -> ValueKind where Value: CaseIterable & RawRepresentable<String> & Equatable {
        .named(Value.allCases.map { ($0.rawValue, $0) })
    }
}

func isDigits(_ text: Substring) -> Bool { !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) } }

private func isInteger(_ text: String) -> Bool { isDigits(text.hasPrefix("-") ? text.dropFirst() : text[...]) }

private func number(_ text: String, _ remedy: String) throws(ValueProblem) -> Int {
    guard isInteger(text), let value = Int(text) else {
        throw ValueProblem(what: "\"\(printable(text))\" is not an integer", remedy: remedy)
    }
    return value
}
