/// Little-endian numbers at the end of a byte array, which keeps its capacity from message to message.
extension [UInt8] {
    mutating func append<Value: FixedWidthInteger>(littleEndian value: Value) {
        var rest = value
        for _ in 0..<(Value.bitWidth / 8) {
            append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// An unsigned 32-bit field. A value outside its range traps.
    mutating func append(uint32 value: Int) { append(littleEndian: UInt32(value)) }

    mutating func append(zeros count: Int) { append(contentsOf: repeatElement(0, count: count)) }

    /// Writes a whole message: the header, then what `body` appends. Sets the body's length in the header.
    mutating func appendMessage(
        _ type: MessageType, sequence: UInt32, payloadBytes: Int = 0, body: (inout [UInt8]) -> Void
    ) {
        let start = count
        var header = MessageHeader(type: type, bodyBytes: 0, payloadBytes: payloadBytes, sequence: sequence)
        header.encode(into: &self)
        body(&self)
        header.bodyBytes = count - start - MessageHeader.byteCount
        self[start + 4] = UInt8(truncatingIfNeeded: header.bodyBytes)
        self[start + 5] = UInt8(truncatingIfNeeded: header.bodyBytes >> 8)
    }
}
