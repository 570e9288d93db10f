/// Bytes that are not DER.
struct BadDER: Error, Equatable {}

/// Reads DER (X.690) strictly: every length in its only form, every tag in one byte.
///
/// So no other parser reads something else out of bytes that were accepted here. Pure; every access is checked.
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
        /// [0] and [3], explicit.
        static let context0: UInt8 = 0xa0
        static let context3: UInt8 = 0xa3
        /// [1] and [2], implicit: bit strings.
        static let uniqueIdentifiers: [UInt8] = [0x81, 0x82]
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }
    /// Of the element that comes next; nil at the end.
    var tag: UInt8? { rest.first }

    /// The contents of the next element, which must have this tag.
    mutating func contents(of tag: UInt8) throws(BadDER) -> ArraySlice<UInt8> {
        guard rest.first == tag, tag & 0x1f != 0x1f else { throw BadDER() }
        let length = try length()
        let contents = rest.prefix(length)
        rest = rest.dropFirst(length)
        return contents
    }

    /// The next element as a reader of what it contains.
    mutating func enter(_ tag: UInt8) throws(BadDER) -> DERReader { DERReader(try contents(of: tag)) }

    /// The next element with its tag and length.
    mutating func element(_ tag: UInt8) throws(BadDER) -> ArraySlice<UInt8> {
        let whole = rest
        return whole[whole.startIndex..<(try contents(of: tag)).endIndex]
    }

    /// What the only element here contains.
    func entering(_ tag: UInt8) throws(BadDER) -> DERReader { try Self.only(tag, in: rest) }

    mutating func skip(_ tag: UInt8) throws(BadDER) { _ = try contents(of: tag) }

    func end() throws(BadDER) { guard isAtEnd else { throw BadDER() } }

    /// A whole encoding that is one element, and nothing behind it.
    static func only(_ tag: UInt8, in bytes: ArraySlice<UInt8>) throws(BadDER) -> DERReader {
        var reader = DERReader(bytes)
        let inner = try reader.enter(tag)
        try reader.end()
        return inner
    }

    /// Takes tag and length away; as many bytes are there.
    private mutating func length() throws(BadDER) -> Int {
        guard let first = rest.dropFirst().first else { throw BadDER() }
        rest = rest.dropFirst(2)
        var length = Int(first)
        if first >= 0x80 {
            // Up to 16 MiB; 0x80 alone, the indefinite length, is none of DER's.
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
