/// `paused` and `resumed`: messages without fields.
package enum BareMessage {
    /// Checks a body that has no fields of its own; an extension that is not understood is a non-fatal error.
    package static func check(body: RawSpan, type: MessageType) throws(ProtocolError) {
        try MessageBody.check(body, fixed: 0, in: type, fatal: false)
    }

    /// Appends the whole message.
    package static func encode(_ type: MessageType, sequence: UInt32, into bytes: inout [UInt8]) {
        bytes.appendMessage(type, sequence: sequence) { _ in }
    }
}
