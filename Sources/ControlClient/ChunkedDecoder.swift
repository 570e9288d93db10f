/// Removes the framing from a chunked body (RFC 9112, section 7.1), part by part. Pure; stores no data of the body.
///
/// Sizes, extensions and trailers are bounded, because any server may answer.
struct ChunkedDecoder {
    static let maxLineBytes = 256
    static let maxTrailerBytes = 4096
    static let maxChunkBytes = 16 * 1024 * 1024

    private enum State {
        case size([UInt8])
        case data(left: Int)
        /// The line end after the data of a chunk, with the number of its bytes that are missing.
        case lineEnd(left: Int)
        case trailer(line: [UInt8], total: Int)
        case complete
    }

    private var state = State.size([])

    /// Whether the last chunk and its trailers have come. Bytes after them are ignored.
    var isComplete: Bool { if case .complete = state { true } else { false } }

    /// Returns the bytes of the body in `bytes`.
    mutating func feed(_ bytes: ArraySlice<UInt8>) throws(ControlClientError) -> [UInt8] {
        var body: [UInt8] = []
        var rest = bytes
        while !rest.isEmpty {
            switch state {
            case .complete: return body
            case .data(let left):
                let part = rest.prefix(left)
                body += part
                rest = rest.dropFirst(part.count)
                state = part.count == left ? .lineEnd(left: 2) : .data(left: left - part.count)
            case .lineEnd(let left):
                guard rest.removeFirst() == (left == 2 ? 0x0D : 0x0A) else {
                    throw .unintelligible("a chunk of it is longer than it says")
                }
                state = left == 2 ? .lineEnd(left: 1) : .size([])
            case .size(var line):
                line.append(rest.removeFirst())
                guard line.count <= Self.maxLineBytes else { throw .unintelligible("a chunk's size does not end") }
                if line.last == 0x0A {
                    let size = try Self.size(line)
                    state = size == 0 ? .trailer(line: [], total: 0) : .data(left: size)
                } else {
                    state = .size(line)
                }
            case .trailer(var line, let total):
                line.append(rest.removeFirst())
                guard total < Self.maxTrailerBytes else { throw .unintelligible("its trailers do not end") }
                if line == [0x0D, 0x0A] {
                    state = .complete
                } else {
                    state = .trailer(line: line.last == 0x0A ? [] : line, total: total + 1)
                }
            }
        }
        return body
    }

    /// Parses a line with its end: hexadecimal digits, and perhaps an extension, which is ignored.
    private static func size(_ line: [UInt8]) throws(ControlClientError) -> Int {
        let text = line.dropLast(2)
        let digits = text.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
        // Int(_:radix:) would accept a sign.
        guard line.suffix(2) == [0x0D, 0x0A], (1...8).contains(digits.count),
            digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw .unintelligible("a chunk's size is no number") }
        guard size <= maxChunkBytes else { throw .unintelligible("a chunk of it has \(size) bytes") }
        return size
    }
}
