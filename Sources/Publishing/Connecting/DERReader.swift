struct BadDER: Error, Equatable {}

/// Reads DER (X.690) strictly: it accepts only the shortest form of a length, and only tags of one byte.
///
/// Other parsers therefore read the same values from accepted bytes. Pure; every access is checked.
struct DERReader {
    enum Tag {
        static let boolean: UInt8 = 0x01
        static let integer: UInt8 = 0x02
        static let bitString: UInt8 = 0x03
        static let octetString: UInt8 = 0x04
        static let objectIdentifier: UInt8 = 0x06
        static let enumerated: UInt8 = 0x0a
        static let sequence: UInt8 = 0x30
        static let set: UInt8 = 0x31
        /// Explicit [0] and [3].
        static let context0: UInt8 = 0xa0
        static let context3: UInt8 = 0xa3
        /// Implicit [1] and [2], bit strings.
        static let uniqueIdentifiers: [UInt8] = [0x81, 0x82]
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }
    /// The tag of the next element; nil at the end.
    var tag: UInt8? { rest.first }

    /// Returns the contents of the next element. Throws if its tag differs.
    mutating func contents(of tag: UInt8) throws(BadDER) -> ArraySlice<UInt8> {
        guard rest.first == tag, tag & 0x1f != 0x1f else { throw BadDER() }
        let length = try length()
        let contents = rest.prefix(length)
        rest = rest.dropFirst(length)
        return contents
    }

    /// Returns a reader of the next element's contents.
    mutating func enter(_ tag: UInt8) throws(BadDER) -> DERReader { DERReader(try contents(of: tag)) }

    /// Returns the next element with its tag and length.
    mutating func element(_ tag: UInt8) throws(BadDER) -> ArraySlice<UInt8> {
        let whole = rest
        return whole[whole.startIndex..<(try contents(of: tag)).endIndex]
    }

    /// Returns a reader of the contents of the only element here.
    func entering(_ tag: UInt8) throws(BadDER) -> DERReader { try Self.only(tag, in: rest) }

    mutating func skip(_ tag: UInt8) throws(BadDER) { _ = try contents(of: tag) }

    func end() throws(BadDER) { guard isAtEnd else { throw BadDER() } }

    /// Returns a reader of the contents of `bytes`, which must be exactly one element.
    static func only(_ tag: UInt8, in bytes: ArraySlice<UInt8>) throws(BadDER) -> DERReader {
        var reader = DERReader(bytes)
        let inner = try reader.enter(tag)
        try reader.end()
        return inner
    }

    /// Removes tag and length from `rest`. Throws if the contents are incomplete.
    private mutating func length() throws(BadDER) -> Int {
        guard let first = rest.dropFirst().first else { throw BadDER() }
        rest = rest.dropFirst(2)
        var length = Int(first)
        if first >= 0x80 {
            // Up to 16 MiB. DER does not allow 0x80, the indefinite length.
            let count = Int(first & 0x7f)
            guard (1...3).contains(count), rest.count >= count else { throw BadDER() }
            length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(count)
            guard length >= 0x80, length >> (8 * (count - 1)) != 0 else { throw BadDER() }
        }
        guard length <= rest.count else { throw BadDER() }
        return length
    }
}
