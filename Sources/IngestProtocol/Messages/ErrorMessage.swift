/// A refused message: its number, the cause, and whether the connection ends.
package struct ErrorMessage: Equatable, Sendable {
    package static let fixedBytes = 12

    /// The raw number. A client shows unknown numbers with their sentence.
    package var codeRaw: UInt16
    package var isFatal: Bool
    /// The sequence number of the client's message; zero if none was read, as with `busy`.
    package var refersTo: UInt32
    /// A sentence of at most 1024 bytes.
    package let text: String

    package var code: ErrorCode? { ErrorCode(rawValue: codeRaw) }

    package init(_ error: ProtocolError, refersTo sequence: UInt32) {
        self.init(codeRaw: error.code.rawValue, isFatal: error.isFatal, refersTo: sequence, text: error.message)
    }

    package init(codeRaw: UInt16, isFatal: Bool, refersTo: UInt32, text: String) {
        self.codeRaw = codeRaw
        self.isFatal = isFatal
        self.refersTo = refersTo
        self.text = WireText.bounded(WireText.sanitised(text), to: IngestLimits.maxTextBytes)
    }

    package static func decode(body: RawSpan) throws(ProtocolError) -> ErrorMessage {
        try MessageBody.check(
            body, fixed: fixedBytes, texts: [.init(lengthAt: 8, limit: IngestLimits.maxTextBytes, name: "text")],
            in: .error, fatal: true)
        return ErrorMessage(
            codeRaw: body.uint16(at: 0), isFatal: body.uint8(at: 2) != 0, refersTo: body.uint32(at: 4),
            text: WireText.decode(body, from: fixedBytes, lengthAt: 8))
    }

    /// Appends the whole message.
    package func encode(sequence: UInt32, into bytes: inout [UInt8]) {
        bytes.appendMessage(.error, sequence: sequence) { bytes in
            bytes.append(littleEndian: codeRaw)
            bytes.append(isFatal ? 1 : 0)
            bytes.append(0)
            bytes.append(littleEndian: refersTo)
            bytes.append(littleEndian: UInt16(text.utf8.count))
            bytes.append(zeros: 2)
            bytes.append(contentsOf: text.utf8)
            bytes.append(zeros: WireText.padding(after: text.utf8.count))
        }
    }
}
