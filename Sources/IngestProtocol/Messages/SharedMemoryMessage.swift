/// Memory of the client for its pictures. A memfd comes with the message's first byte (SCM_RIGHTS).
///
/// Viewers see nothing of it. Without a descriptor, and with zero bytes, it takes memory back.
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

    /// The pool number of a message, even of a refused one; nil if the body is too short.
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

/// The daemon is done with the pictures in shared memory, up to and including one message of the client.
package struct ReleasedMessage: Equatable, Sendable {
    package static let fixedBytes = 8

    /// The sequence number of a `video` message. The client may overwrite its picture and all earlier ones.
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
