/// A key and a value about the broadcast, such as a title or the app in front; errors are non-fatal.
package struct AnnotatedMessage: Equatable, Sendable {
    package static let fixedBytes = 4

    /// 1 to 64 bytes of UTF-8.
    package let key: String
    /// At most 1024 bytes of UTF-8.
    package let value: String

    package init(key: String, value: String) {
        self.key = WireText.bounded(WireText.sanitised(key), to: IngestLimits.maxNameBytes)
        self.value = WireText.bounded(WireText.sanitised(value), to: IngestLimits.maxTextBytes)
    }

    package static func decode(body: RawSpan) throws(ProtocolError) -> AnnotatedMessage {
        try MessageBody.check(
            body, fixed: fixedBytes,
            texts: [
                .init(lengthAt: 0, limit: IngestLimits.maxNameBytes, name: "key"),
                .init(lengthAt: 2, limit: IngestLimits.maxTextBytes, name: "value"),
            ], in: .annotated, fatal: false)
        let keyBytes = Int(body.uint16(at: 0))
        guard keyBytes > 0 else { throw ProtocolError(.malformedBody, fatal: false, "annotated: the key is empty") }
        return AnnotatedMessage(
            key: WireText.decode(body, from: fixedBytes, lengthAt: 0),
            value: WireText.decode(body, from: fixedBytes + keyBytes, lengthAt: 2))
    }

    /// Appends the whole message.
    package func encode(sequence: UInt32, into bytes: inout [UInt8]) {
        bytes.appendMessage(.annotated, sequence: sequence) { bytes in
            bytes.append(littleEndian: UInt16(key.utf8.count))
            bytes.append(littleEndian: UInt16(value.utf8.count))
            bytes.append(contentsOf: key.utf8)
            bytes.append(contentsOf: value.utf8)
            bytes.append(zeros: WireText.padding(after: key.utf8.count + value.utf8.count))
        }
    }
}
