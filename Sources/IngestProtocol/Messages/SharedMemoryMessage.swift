/// Memory of the client's that its pictures will lie in: a memfd comes with the message's first byte (SCM_RIGHTS).
///
/// Nothing is shown by it. Without a descriptor, and with zero bytes, it takes memory back.
package struct SharedMemoryMessage: Equatable, Sendable {
    package static let fixedBytes = 16

    /// The pool number of the client. Another pool with the same number replaces it.
    package var pool: UInt32
    package var byteCount: UInt64

    package init(pool: UInt32, byteCount: UInt64) {
        self.pool = pool
        self.byteCount = byteCount
    }

    package static func decode(body: RawSpan) throws(ProtocolError) -> SharedMemoryMessage {
        try MessageBody.check(body, fixed: fixedBytes, in: .sharedMemory, fatal: false)
        return SharedMemoryMessage(pool: body.uint32(at: 0), byteCount: body.uint64(at: 8))
    }

    /// The number that a message is about, also where it is refused; nil where its fields are not all there.
    package static func pool(of body: RawSpan) -> UInt32? {
        body.byteCount >= fixedBytes ? body.uint32(at: 0) : nil
    }

    /// Appends the whole message.
    package func encode(sequence: UInt32, into bytes: inout [UInt8]) {
        bytes.appendMessage(.sharedMemory, sequence: sequence) { bytes in
            bytes.append(littleEndian: pool)
            bytes.append(zeros: 4)
            bytes.append(littleEndian: byteCount)
        }
    }
}

/// The daemon has done with what lay in shared memory, up to and with a message of the client's.
package struct ReleasedMessage: Equatable, Sendable {
    package static let fixedBytes = 8

    /// Sequence number of a `video` message. The client can overwrite it and all earlier ones.
    package var sequence: UInt32

    package init(sequence: UInt32) { self.sequence = sequence }

    package static func decode(body: RawSpan) throws(ProtocolError) -> ReleasedMessage {
        try MessageBody.check(body, fixed: fixedBytes, in: .released, fatal: false)
        return ReleasedMessage(sequence: body.uint32(at: 0))
    }

    /// Appends the whole message.
    package func encode(sequence: UInt32, into bytes: inout [UInt8]) {
        bytes.appendMessage(.released, sequence: sequence) { bytes in
            bytes.append(littleEndian: self.sequence)
            bytes.append(zeros: 4)
        }
    }
}
