/// The structure of every body: fixed fields, then texts, then extensions.
enum MessageBody {
    /// A text after the fixed fields. One of these has its length, as an unsigned 16-bit number.
    struct Text {
        let lengthAt: Int
        let limit: Int
        let name: StaticString
    }

    /// Checks that the fixed fields are there, that `list` bytes and the texts after them fit, and the extensions.
    static func check(
        _ body: RawSpan, fixed: Int, list: Int = 0, texts: [Text] = [], in type: MessageType, fatal: Bool
    ) throws(ProtocolError) {
        guard body.byteCount >= fixed else {
            throw ProtocolError(
                .malformedBody, fatal: fatal,
                "\(type): the body has \(body.byteCount) bytes; its fixed fields take \(fixed)")
        }
        var end = fixed + list
        for text in texts {
            let length = Int(body.uint16(at: text.lengthAt))
            guard length <= text.limit else {
                throw ProtocolError(
                    .malformedBody, fatal: fatal,
                    "\(type): the \(text.name) has \(length) bytes; at most \(text.limit) are allowed")
            }
            end += length
        }
        end += WireText.padding(after: end)
        guard end <= body.byteCount else {
            throw ProtocolError(
                .malformedBody, fatal: fatal,
                "\(type): the lengths among its fields add up to a body of \(end) bytes, but it has \(body.byteCount)")
        }
        try MessageExtensions.check(body, from: end, in: type, fatal: fatal)
    }
}
