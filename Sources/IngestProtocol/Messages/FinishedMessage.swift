/// Why a client ends its broadcast.
package enum FinishReason: UInt16, CaseIterable, Sendable {
    /// The source came to its end.
    case sourceEnded = 0
    /// The user stopped the broadcast.
    case userStopped = 1
    /// The client failed. The text states the cause.
    case failed = 2
}

/// The client's last message. Errors are fatal, because no message can follow.
package struct FinishedMessage: Equatable, Sendable {
    package static let fixedBytes = 4

    /// The raw number. Unknown numbers are accepted.
    package var reasonRaw: UInt16
    /// At most 1024 bytes of UTF-8; may be empty.
    package let text: String

    package var reason: FinishReason? { FinishReason(rawValue: reasonRaw) }

    package init(reason: FinishReason, text: String = "") { self.init(reasonRaw: reason.rawValue, text: text) }

    package init(reasonRaw: UInt16, text: String) {
        self.reasonRaw = reasonRaw
        self.text = WireText.bounded(WireText.sanitised(text), to: IngestLimits.maxTextBytes)
    }

    package static func decode(body: RawSpan) throws(ProtocolError) -> FinishedMessage {
        try MessageBody.check(
            body, fixed: fixedBytes, texts: [.init(lengthAt: 2, limit: IngestLimits.maxTextBytes, name: "text")],
            in: .finished, fatal: true)
        return FinishedMessage(
            reasonRaw: body.uint16(at: 0), text: WireText.decode(body, from: fixedBytes, lengthAt: 2))
    }

    /// Appends the whole message.
    package func encode(sequence: UInt32, into bytes: inout [UInt8]) {
        bytes.appendMessage(.finished, sequence: sequence) { bytes in
            bytes.append(littleEndian: reasonRaw)
            bytes.append(littleEndian: UInt16(text.utf8.count))
            bytes.append(contentsOf: text.utf8)
            bytes.append(zeros: WireText.padding(after: text.utf8.count))
        }
    }
}
