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
        try MessageExtensions.requireFixed(body, fixedBytes, in: .annotated, fatal: false)
        let (keyBytes, valueBytes) = (Int(body.uint16(at: 0)), Int(body.uint16(at: 2)))
        guard keyBytes > 0 else { throw ProtocolError(.malformedBody, fatal: false, "annotated: the key is empty") }
        try MessageExtensions.requireLength(keyBytes, IngestLimits.maxNameBytes, of: "key", in: .annotated, fatal: false)
        try MessageExtensions.requireLength(valueBytes, IngestLimits.maxTextBytes, of: "value", in: .annotated, fatal: false)
        let end = try MessageExtensions.requireTexts(
            body, after: fixedBytes, bytes: keyBytes + valueBytes, in: .annotated, fatal: false)
        try MessageExtensions.check(body, from: end, in: .annotated, fatal: false)
        let keyEnd = fixedBytes + keyBytes
        return AnnotatedMessage(
            key: WireText.decode(body, fixedBytes..<keyEnd), value: WireText.decode(body, keyEnd..<(keyEnd + valueBytes)))
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
