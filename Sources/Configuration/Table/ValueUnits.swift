/// Units that may follow a number in a value: `2s`, `1m30s`, `4500k`, `64KiB`. A number alone has the unit of its key.
struct ValueUnits: Sendable {
    /// "a duration"
    let what: String
    /// "2s, 500ms or 1m30s"
    let examples: String
    /// "milliseconds", of which every value is a whole number.
    let base: String
    /// Suffixes with their size in `base`, the largest first.
    let sizes: [(suffix: String, size: Int)]
    /// Whether a value may be a sum, such as `1m30s`.
    let isSum: Bool

    static let duration = ValueUnits(
        what: "a duration", examples: "2s, 500ms or 1m30s", base: "milliseconds",
        sizes: [("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)], isSum: true)
    /// Powers of ten, as in ffmpeg and `upcastctl bitrate`.
    static let bitrate = ValueUnits(
        what: "a bitrate", examples: "4500k or 2.5M", base: "kbit/s",
        sizes: [("M", 1000), ("k", 1), ("K", 1)], isSum: false)
    static let bytes = ValueUnits(
        what: "a size", examples: "64KiB or 50MiB", base: "bytes",
        sizes: [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)], isSum: false)

    /// What a message says beside the plain number.
    var note: String { "or \(what) such as \(examples)" }

    /// Parses a number with its unit, or a sum.
    ///
    /// - Returns: the value in `base`; nil if the text has another form.
    /// - Throws: if the value is no whole number of `base`, or too large for any key.
    func parse(_ text: String) throws(ValueProblem) -> Int? {
        var rest = text[...]
        var total = 0
        var next = 0
        guard !rest.isEmpty, text.utf8.count <= 32 else { return nil }
        while !rest.isEmpty {
            let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            rest = rest.dropFirst(number.count)
            let suffix = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(suffix.count)
            // Units come in order, each once. Without a sum, nothing may follow.
            guard let index = sizes[next...].firstIndex(where: { $0.suffix == suffix }), isSum || rest.isEmpty else {
                return nil
            }
            next = index + 1
            let parts = number.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count <= 2, parts.allSatisfy({ isDigits($0) }) else { return nil }
            total = try sum(total, parts[0], parts.count == 2 ? parts[1] : "", sizes[index].size, text)
        }
        return total
    }

    /// `total` and `whole.fraction` of `size`.
    private func sum(
        _ total: Int, _ whole: Substring, _ fraction: Substring, _ size: Int, _ text: String
    ) throws(ValueProblem) -> Int {
        // All keys have ranges far below these bounds, so nothing overflows.
        guard whole.utf8.count <= 9, fraction.utf8.count <= 9, let count = Int(whole) else {
            throw ValueProblem(what: "\"\(printable(text))\" has too many digits", remedy: "write \(examples)")
        }
        var (numerator, denominator) = (0, 1)
        for digit in fraction.utf8 {
            (numerator, denominator) = (numerator * 10 + Int(digit - 0x30), denominator * 10)
        }
        let part = numerator.multipliedFullWidth(by: size)
        let (quotient, remainder) = denominator.dividingFullWidth(part)
        guard remainder == 0 else {
            throw ValueProblem(
                what: "\"\(printable(text))\" is not a whole number of \(base)", remedy: "write \(examples)")
        }
        return total + count * size + quotient
    }
}
