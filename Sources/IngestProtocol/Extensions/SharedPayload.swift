/// The location of a picture's payload in shared memory: the value of extension 2.
package struct SharedPayload: Equatable, Sendable {
    static let byteCount = 40

    package var pool: UInt32
    /// Offset from the start of the memory.
    package var offset: UInt64
    /// Bytes of payload. The planes' offsets count from its start.
    package var byteCount: UInt64
    /// The offset of the slot's guard word, a multiple of eight. The client changes the word before it writes to the
    /// slot.
    package var guardOffset: UInt64
    /// The value of the guard word while the picture is complete.
    package var generation: UInt64

    package init(pool: UInt32, offset: UInt64, byteCount: UInt64, guardOffset: UInt64, generation: UInt64) {
        self.pool = pool
        self.offset = offset
        self.byteCount = byteCount
        self.guardOffset = guardOffset
        self.generation = generation
    }

    /// Reads an extension's value.
    init(_ value: RawSpan) throws(ProtocolError) {
        guard value.byteCount == Self.byteCount else {
            throw ProtocolError(
                .malformedExtension, fatal: false,
                "video: a payload in shared memory is described by \(Self.byteCount) bytes, not \(value.byteCount)")
        }
        self.init(
            pool: value.uint32(at: 0), offset: value.uint64(at: 8), byteCount: value.uint64(at: 16),
            guardOffset: value.uint64(at: 24), generation: value.uint64(at: 32))
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(littleEndian: MessageExtensions.criticalBit | MessageExtensions.Tag.sharedMemory.rawValue)
        bytes.append(littleEndian: UInt16(Self.byteCount))
        bytes.append(littleEndian: pool)
        bytes.append(zeros: 4)
        for number in [offset, byteCount, guardOffset, generation] { bytes.append(littleEndian: number) }
    }

    /// The payload's range and the guard word's offset in a memory of `memoryBytes` bytes.
    ///
    /// - Throws: if the picture or its guard word lies outside the memory, or the word inside the picture.
    package func ranges(in memoryBytes: Int) throws(ProtocolError) -> (payload: Range<Int>, guardOffset: Int) {
        let size = UInt64(memoryBytes)
        guard offset <= size, byteCount <= size - offset else {
            throw ProtocolError(
                .badSharedMemory, fatal: false,
                "video: \(byteCount) bytes at \(offset) are not in shared memory \(pool) of \(memoryBytes) bytes")
        }
        guard size >= 8, guardOffset <= size - 8, guardOffset % 8 == 0 else {
            throw ProtocolError(
                .badSharedMemory, fatal: false,
                "video: there is no eight-byte word at \(guardOffset) of shared memory \(pool), which has "
                    + "\(memoryBytes) bytes")
        }
        guard guardOffset + 8 <= offset || guardOffset >= offset + byteCount else {
            throw ProtocolError(
                .badSharedMemory, fatal: false,
                "video: the word at \(guardOffset) of shared memory \(pool) is inside the picture that it guards")
        }
        return (Int(offset)..<Int(offset + byteCount), Int(guardOffset))
    }
}

/// The shared memory limits of the daemon: the value of the welcome's extension 4.
package struct SharedMemoryOffer: Equatable, Sendable {
    static let byteCount = 16

    /// The maximum number of pools of one client.
    package var maxPools: Int
    /// The size of each pool, in bytes.
    package var maxPoolBytes: Int

    package init(maxPools: Int, maxPoolBytes: Int) {
        self.maxPools = maxPools
        self.maxPoolBytes = maxPoolBytes
    }

    /// Nil for a value that this version does not understand, because the extension is not critical.
    init?(_ value: RawSpan) {
        guard value.byteCount >= Self.byteCount else { return nil }
        self.init(maxPools: value.size(at: 0), maxPoolBytes: Int(clamping: value.uint64(at: 8)))
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(littleEndian: MessageExtensions.Tag.sharedMemoryOffer.rawValue)
        bytes.append(littleEndian: UInt16(Self.byteCount))
        bytes.append(uint32: maxPools)
        bytes.append(zeros: 4)
        bytes.append(littleEndian: UInt64(maxPoolBytes))
    }
}
