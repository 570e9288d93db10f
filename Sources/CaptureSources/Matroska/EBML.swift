/// The elements of EBML (RFC 8794), of which Matroska consists: an ID, a size, and a body.
enum EBML {
    /// The head of an element; its body is next in the input.
    struct Head: Equatable {
        /// With the marker bits, as documents write it.
        var id: UInt32
        /// The bytes of the body; nil if its end is not known, as in live streams.
        var size: Int?
    }

    /// A larger size is an error, so that sums of sizes do not overflow.
    private static let maxSize: UInt64 = 1 << 40

    /// Reads the head of an element.
    ///
    /// - Parameter next: the next byte; nil at the end.
    /// - Returns: nil at the end.
    static func head(_ next: () throws(InputError) -> UInt8?) throws(InputError) -> Head? {
        guard let first = try next() else { return nil }
        let idBytes = first.leadingZeroBitCount + 1
        guard idBytes <= 4 else {
            throw InputError("the input is no Matroska stream any more: byte \(first) begins no element")
        }
        var id = UInt32(first)
        for _ in 1..<idBytes { id = id << 8 | UInt32(try required(next)) }
        return Head(id: id, size: try number(next).value)
    }

    /// Reads a number of up to eight bytes. Its first byte says how many there are.
    ///
    /// - Returns: the number, nil for the reserved one that means "unknown", and how many bytes it takes.
    static func number(
        _ next: () throws(InputError) -> UInt8?
    ) throws(InputError) -> (value: Int?, byteCount: Int) {
        let first = try required(next)
        let count = first.leadingZeroBitCount + 1
        guard count <= 8 else { throw InputError("the Matroska stream has a number of more than 8 bytes") }
        var value = UInt64(first) & (1 << (8 - count) - 1)
        for _ in 1..<count { value = value << 8 | UInt64(try required(next)) }
        if value == 1 << (7 * count) - 1 { return (nil, count) }
        guard value < maxSize else { throw InputError("the Matroska stream has a number out of range: \(value)") }
        return (Int(value), count)
    }

    private static func required(_ next: () throws(InputError) -> UInt8?) throws(InputError) -> UInt8 {
        guard let byte = try next() else { throw InputError("the Matroska stream ends inside an element") }
        return byte
    }

    /// Visits the elements in a body, in their order.
    static func visit(
        _ body: ArraySlice<UInt8>, _ take: (UInt32, ArraySlice<UInt8>) throws(InputError) -> Void
    ) throws(InputError) {
        var rest = body
        while let head = try head({ () throws(InputError) in rest.popFirst() }) {
            guard let size = head.size, size <= rest.count else {
                throw InputError("the Matroska stream has a header that is too short")
            }
            try take(head.id, rest.prefix(size))
            rest = rest.dropFirst(size)
        }
    }

    /// An unsigned integer of up to eight bytes, the most significant first.
    static func unsigned(_ body: ArraySlice<UInt8>) throws(InputError) -> UInt64 {
        var rest = body
        return try unsigned(byteCount: body.count) { rest.popFirst() }
    }

    static func unsigned(
        byteCount: Int, _ next: () throws(InputError) -> UInt8?
    ) throws(InputError) -> UInt64 {
        guard byteCount <= 8 else { throw InputError("the Matroska stream has a number of more than 8 bytes") }
        var value: UInt64 = 0
        for _ in 0..<byteCount { value = value << 8 | UInt64(try required(next)) }
        return value
    }

    /// A number with a fraction, of four or eight bytes.
    static func float(_ body: ArraySlice<UInt8>) throws(InputError) -> Double {
        let bits = try unsigned(body)
        switch body.count {
        case 0: return 0
        case 4: return Double(Float(bitPattern: UInt32(bits)))
        case 8: return Double(bitPattern: bits)
        default: throw InputError("the Matroska stream has a fraction of \(body.count) bytes")
        }
    }
}
