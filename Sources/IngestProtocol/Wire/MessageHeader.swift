/// Bits of a header's flags field. Other bits are sent as zero and ignored.
package struct MessageFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// A receiver that does not know this message's type must fail instead of skipping it.
    package static let critical = MessageFlags(rawValue: 1 << 0)
}

/// The 16 bytes that every message begins with, in both directions.
package struct MessageHeader: Equatable, Sendable {
    package static let byteCount = 16
    /// The first two bytes: `UC`.
    package static let magic: UInt16 = 0x4355
    /// The supported protocol version.
    package static let version: UInt8 = 1

    /// The raw number of the type, which may be unknown.
    package var rawType: UInt8
    package var flags: MessageFlags
    /// Bytes of the body, which follows the header.
    package var bodyBytes: Int
    /// Bytes of the payload, which follows the body.
    package var payloadBytes: Int
    /// The sender's own counter: zero, then one more for each message, modulo 2^32.
    package var sequence: UInt32

    /// Nil for a type that this version does not know and may skip.
    package var type: MessageType? { MessageType(rawValue: rawType) }

    package init(
        rawType: UInt8, flags: MessageFlags = [], bodyBytes: Int, payloadBytes: Int = 0, sequence: UInt32
    ) {
        self.rawType = rawType
        self.flags = flags
        self.bodyBytes = bodyBytes
        self.payloadBytes = payloadBytes
        self.sequence = sequence
    }

    package init(
        type: MessageType, flags: MessageFlags = [], bodyBytes: Int, payloadBytes: Int = 0, sequence: UInt32
    ) {
        self.init(
            rawType: type.rawValue, flags: flags, bodyBytes: bodyBytes, payloadBytes: payloadBytes, sequence: sequence)
    }

    /// Reads and checks the first `byteCount` bytes of a message. Every error is fatal: after an invalid header, the
    /// start of the next message is unknown.
    package static func decode(_ bytes: RawSpan, limits: IngestLimits) throws(ProtocolError) -> MessageHeader {
        guard bytes.byteCount >= byteCount else {
            throw ProtocolError(
                .truncated, fatal: true, "a message header has \(byteCount) bytes, not \(bytes.byteCount)")
        }
        let first = bytes.uint16(at: 0)
        guard first == magic else {
            throw ProtocolError(
                .badMagic, fatal: true,
                "a message starts with the bytes 0x55 0x43 (\"UC\"), not with \(hexadecimal(bytes.uint8(at: 0))) "
                    + "\(hexadecimal(bytes.uint8(at: 1))): the client uses another protocol, or the previous message "
                    + "was longer or shorter than its header states")
        }
        let version = bytes.uint8(at: 2)
        guard version == self.version else {
            throw ProtocolError(
                .unsupportedVersion, fatal: true,
                "the message header has protocol version \(version); the daemon supports version \(self.version)")
        }
        let header = MessageHeader(
            rawType: bytes.uint8(at: 3), flags: MessageFlags(rawValue: bytes.uint16(at: 6)),
            bodyBytes: Int(bytes.uint16(at: 4)), payloadBytes: bytes.size(at: 8), sequence: bytes.uint32(at: 12))
        try header.check(limits)
        return header
    }

    private func check(_ limits: IngestLimits) throws(ProtocolError) {
        guard type != nil || !flags.contains(.critical) else {
            throw ProtocolError(
                .unknownCriticalMessage, fatal: true,
                "message type \(hexadecimal(rawType)) is marked critical, but protocol version \(Self.version) "
                    + "does not know it"
            )
        }
        guard bodyBytes <= limits.maxBody else {
            throw ProtocolError(
                .bodyTooLarge, fatal: true,
                "\(MessageType.name(of: rawType)): a body of \(bodyBytes) bytes; at most \(limits.maxBody) are allowed")
        }
        let maxPayload = limits.maxPayload(of: type)
        guard payloadBytes <= maxPayload else {
            throw ProtocolError(
                .payloadTooLarge, fatal: true,
                "\(MessageType.name(of: rawType)): a payload of \(payloadBytes) bytes; "
                    + (maxPayload == 0 ? "this message has none" : "at most \(maxPayload) are allowed"))
        }
    }

    /// Appends the 16 bytes. Lengths that do not fit their fields trap, because the sender checks them first.
    package func encode(into bytes: inout [UInt8]) {
        bytes.append(littleEndian: Self.magic)
        bytes.append(Self.version)
        bytes.append(rawType)
        bytes.append(littleEndian: UInt16(bodyBytes))
        bytes.append(littleEndian: flags.rawValue)
        bytes.append(uint32: payloadBytes)
        bytes.append(littleEndian: sequence)
    }
}
