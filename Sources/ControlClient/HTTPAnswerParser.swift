/// Parses an answer of HTTP/1.1, part by part: status and media type, then the body without its framing. Pure.
///
/// The head is bounded here. The caller has to bound the body.
struct HTTPAnswerParser {
    static let maxHeadBytes = 16 * 1024

    struct Head: Equatable {
        var status: Int
        /// Without parameters, in lower case; empty if there is none.
        var mediaType: String
    }

    private enum Body {
        case length(left: Int)
        case chunked(ChunkedDecoder)
        /// Ends with the connection.
        case untilClose
    }

    /// Nil until the whole head has come.
    private(set) var head: Head?
    private var headBytes: [UInt8] = []
    private var body = Body.untilClose

    /// Whether the answer is complete. Later bytes of the connection do not belong to it.
    var isComplete: Bool {
        guard head != nil else { return false }
        return switch body {
        case .length(let left): left == 0
        case .chunked(let decoder): decoder.isComplete
        case .untilClose: false
        }
    }

    /// Returns the bytes of the body in `bytes`.
    mutating func feed(_ bytes: ArraySlice<UInt8>) throws(ControlClientError) -> [UInt8] {
        guard head == nil else { return try feedBody(bytes) }
        // The end of the head can only be in the new bytes, and the three bytes before them.
        let start = max(0, headBytes.count - 3)
        headBytes += bytes
        // The magic number of the capture protocol.
        if headBytes.starts(with: "UC".utf8) { throw .captureSocket }
        let end = headBytes[start...].firstRange(of: Array("\r\n\r\n".utf8))
        guard (end?.lowerBound ?? headBytes.count) <= Self.maxHeadBytes else {
            throw .unintelligible("its headers have more than \(Self.maxHeadBytes) bytes")
        }
        guard let end else { return [] }
        let rest = headBytes[end.upperBound...]
        try readHead(headBytes[..<end.lowerBound])
        headBytes = []
        return try feedBody(rest)
    }

    /// Notes the end of the connection; throws if the answer is incomplete.
    func end() throws(ControlClientError) {
        guard head != nil else { throw .unintelligible("it has no end of headers") }
        switch body {
        case .length(let left) where left > 0: throw .unintelligible("\(left) bytes of it are missing")
        case .chunked(let decoder) where !decoder.isComplete: throw .unintelligible("its last chunk is missing")
        default: return
        }
    }

    private mutating func feedBody(_ bytes: ArraySlice<UInt8>) throws(ControlClientError) -> [UInt8] {
        switch body {
        case .untilClose: return Array(bytes)
        case .length(let left):
            guard bytes.count <= left else { throw .unintelligible("it is longer than it says") }
            body = .length(left: left - bytes.count)
            return Array(bytes)
        case .chunked(var decoder):
            let part = try decoder.feed(bytes)
            body = .chunked(decoder)
            return part
        }
    }

    private mutating func readHead(_ bytes: ArraySlice<UInt8>) throws(ControlClientError) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
        let words = lines[0].split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]),
            (200...599).contains(status)
        else { throw .unintelligible("it is not HTTP") }
        var head = Head(status: status, mediaType: "")
        var length: Int?
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw .unintelligible("a header has no colon") }
            let value = Self.trimmed(parts[1])
            switch parts[0].lowercased() {
            case "content-type": head.mediaType = Self.trimmed(value.prefix { $0 != ";" }).lowercased()
            case "content-length":
                guard value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(value),
                    length == nil || length == number
                else { throw .unintelligible("its length is no number, or two") }
                length = number
            case "transfer-encoding":
                guard value.lowercased() == "chunked" else { throw .unintelligible("it has an unknown encoding") }
                body = .chunked(ChunkedDecoder())
            default: break
            }
        }
        if let length {
            // Two framings are a way to pass one answer off as two (response splitting).
            if case .chunked = body { throw .unintelligible("it has a length and chunks") }
            body = .length(left: length)
        }
        self.head = head
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return text
    }
}
