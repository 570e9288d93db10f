/// Optional fields after the fixed ones: tag, length, value, padded to four bytes. A tag with bit 15 set is critical: a
/// receiver that does not understand it refuses the message. A receiver skips other unknown tags.
package enum MessageExtensions {
    package static let criticalBit: UInt16 = 0x8000

    /// The known tags, without the critical bit.
    package enum Tag: UInt16, CaseIterable, Sendable {
        /// The secure regions of a frame: `SecureRegionsField`. Sent as critical (0x8001).
        case secureRegions = 1
        /// The payload lies in shared memory, `payloadBytes` is zero: `SharedPayload`. Sent as critical (0x8002).
        case sharedMemory = 2
        /// The part of the picture that changed. An empty value, sent as critical (0x8003): nothing changed, and there
        /// is no payload. Another value, sent as 0x0003: `DamageField`.
        case damage = 3
        /// In a welcome: the shared memory that the daemon takes, `SharedMemoryOffer`.
        case sharedMemoryOffer = 4
        /// In a welcome, an empty value: the daemon uses damage with a value.
        case damageOffer = 5
    }

    /// Walks the extensions from `start` to the body's end. Decides whether the message may be taken without those that
    /// this version does not understand there. Secure regions and shared memory are refused even if the client forgot
    /// the critical bit, because a missing bit must not show what was meant to stay hidden.
    static func check(_ body: RawSpan, from start: Int, in type: MessageType, fatal: Bool) throws(ProtocolError) {
        let end = body.byteCount
        var offset = start
        var hasRegions = false
        while offset < end {
            guard end - offset >= 4 else {
                throw ProtocolError(
                    .malformedExtension, fatal: fatal,
                    "\(type): \(end - offset) unexpected bytes at \(offset) of the body; "
                        + "an extension starts with a two-byte tag and a two-byte length")
            }
            let tag = body.uint16(at: offset)
            let length = Int(body.uint16(at: offset + 2))
            let next = offset + 4 + length + WireText.padding(after: length)
            guard next <= end else {
                throw ProtocolError(
                    .malformedExtension, fatal: fatal,
                    "\(type): extension \(hexadecimal(tag)) at \(offset) of the body has \(length) bytes, "
                        + "with padding \(next - offset - 4), but \(end - offset - 4) are left of the body"
                )
            }
            let known = Tag(rawValue: tag & ~criticalBit)
            if type == .video, known == .sharedMemory || (known == .damage && length == 0) {
                // `VideoMessage` decodes it.
            } else if type == .video, known == .secureRegions {
                // Two lists are ambiguous.
                guard !hasRegions else {
                    throw ProtocolError(
                        .badSecureRegions, fatal: false,
                        "video: the message has two lists of secure regions; the picture is refused and not shown")
                }
                hasRegions = true
            } else if known == .secureRegions || known == .sharedMemory || tag & criticalBit != 0 {
                let name =
                    switch known {
                    case .secureRegions: "secure regions (extension 1)"
                    case .sharedMemory: "a payload in shared memory (extension 2)"
                    default: "critical extension \(hexadecimal(tag))"
                    }
                throw ProtocolError(
                    .unsupportedExtension, fatal: fatal,
                    "\(type): \(name) is not supported by protocol version 1, so "
                        + (type == .video ? "the picture is refused and not shown" : "the message is refused"))
            }
            offset = next
        }
    }

    /// The range of the value of the first extension of a kind; nil without one. Call it only after a successful
    /// `check`.
    static func find(_ tag: Tag, in body: RawSpan, from start: Int) -> Range<Int>? {
        var offset = start
        while offset < body.byteCount {
            let length = Int(body.uint16(at: offset + 2))
            if body.uint16(at: offset) & ~criticalBit == tag.rawValue { return offset + 4..<offset + 4 + length }
            offset += 4 + length + WireText.padding(after: length)
        }
        return nil
    }
}
