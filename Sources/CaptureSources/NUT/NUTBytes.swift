/// A source of the number types that NUT consists of (nut.txt, "Definitions").
protocol NUTBytes {
    mutating func byte() throws(InputError) -> UInt8
}

extension NUTBytes {
    /// `v`: seven bits in each byte, the most significant first, until a byte below 128.
    mutating func number() throws(InputError) -> UInt64 {
        var value: UInt64 = 0
        while true {
            let byte = try byte()
            guard value >> 57 == 0 else { throw InputError("the NUT stream has a number of more than 64 bits") }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte & 0x80 == 0 { return value }
        }
    }

    /// Reads a `v` that counts something in memory.
    mutating func count(upTo limit: Int, _ what: String) throws(InputError) -> Int {
        let value = try number()
        guard value <= UInt64(limit) else {
            throw InputError("the NUT stream has \(value) for \(what); the maximum is \(limit)")
        }
        return Int(value)
    }

    /// `s`: a signed number.
    mutating func signed() throws(InputError) -> Int64 {
        let value = try number()
        guard value < UInt64(Int64.max) else { throw InputError("the NUT stream has a number out of range") }
        let next = Int64(value) + 1
        return next & 1 == 1 ? -(next >> 1) : next >> 1
    }

    /// `vb`: a length and as many bytes.
    mutating func bytes(upTo limit: Int, _ what: String) throws(InputError) -> [UInt8] {
        var result: [UInt8] = []
        for _ in 0..<(try count(upTo: limit, what)) { result.append(try byte()) }
        return result
    }
}

/// The body of a packet, as a source of numbers.
struct NUTPacket: NUTBytes {
    private let body: [UInt8]
    private var position = 0

    init(_ body: [UInt8]) { self.body = body }

    mutating func byte() throws(InputError) -> UInt8 {
        guard position < body.count else { throw InputError("the NUT stream has a header that is too short") }
        defer { position += 1 }
        return body[position]
    }
}

/// The bytes of the input, as a source of numbers.
struct NUTPipe: NUTBytes {
    let reader: InputReader

    func byte() throws(InputError) -> UInt8 {
        guard let byte = try reader.byte() else { throw InputError("the NUT stream ends inside a header") }
        return byte
    }
}
