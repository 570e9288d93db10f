internal import IngestProtocol
internal import LinuxSystem

/// The shared memory pools of a client, by pool number: a bounded number of read-only mappings of bounded size.
///
/// Ingest thread only. The pages belong to the client; the daemon uses only address space.
final class SharedPools {
    private let limits: IngestLimits
    private var pools: [(id: UInt32, memory: SharedMemory)] = []

    init(limits: IngestLimits) { self.limits = limits }

    /// Adds, replaces or removes a pool. If the message is refused, the pool number has no memory, so that later
    /// pictures are not read from the previous memory.
    func take(_ message: SharedMemoryMessage, _ descriptor: consuming ForeignDescriptor?) throws(ProtocolError) {
        func refused(_ why: String) -> ProtocolError {
            ProtocolError(.badSharedMemory, fatal: false, "sharedMemory: memory \(message.pool) was refused: \(why)")
        }
        forget(message.pool)
        guard let descriptor else {
            guard message.byteCount == 0 else { throw refused("no descriptor came with the message's first byte") }
            return
        }
        guard message.byteCount > 0, message.byteCount <= UInt64(limits.maxSharedPoolBytes) else {
            throw refused("it has \(message.byteCount) bytes; 1 to \(limits.maxSharedPoolBytes) are allowed")
        }
        guard pools.count < IngestLimits.maxSharedPools else {
            throw refused("the limit of \(IngestLimits.maxSharedPools) pools is reached")
        }
        let memory: SharedMemory
        do throws(SharedMemory.Refusal) {
            memory = try SharedMemory(descriptor, byteCount: Int(message.byteCount))
        } catch {
            throw refused("\(error)")
        }
        pools.append((message.pool, memory))
    }

    /// Removes a pool.
    func forget(_ pool: UInt32) { pools.removeAll { $0.id == pool } }

    /// Finds a picture in shared memory.
    func find(_ shared: SharedPayload) throws(ProtocolError) -> Payload {
        guard let memory = pools.first(where: { $0.id == shared.pool })?.memory else {
            throw ProtocolError(
                .badSharedMemory, fatal: false, "video: shared memory \(shared.pool) does not exist or was refused")
        }
        let (range, guardOffset) = try shared.ranges(in: memory.byteCount)
        return Payload(memory: memory, range: range, guardOffset: guardOffset, generation: shared.generation)
    }

    /// One picture's bytes. They are valid as long as the guard word is unchanged.
    struct Payload {
        fileprivate let memory: SharedMemory
        fileprivate let range: Range<Int>
        fileprivate let guardOffset: Int
        fileprivate let generation: UInt64

        /// Throws if the client has overwritten the picture. Must be called before the first byte is read and after the
        /// last.
        func check() throws(ProtocolError) {
            // This helps honest clients only. A client that overwrites a picture without changing the word tears its
            // own picture, and could as well send a torn one. Nothing else suffers.
            let found = memory.word(at: guardOffset)
            guard found == generation else {
                throw ProtocolError(
                    .sampleOverwritten, fatal: false,
                    "video: the picture in shared memory was overwritten before it was released (its guard word is "
                        + "\(found), not \(generation)); the picture is not shown")
            }
        }

        func bytes(_ offset: Int, _ count: Int) -> UnsafeRawPointer {
            let start = range.lowerBound + offset
            precondition(offset >= 0 && start + count <= range.upperBound, "outside the picture")
            return unsafe memory.bytes(start..<start + count).baseAddress!
        }
    }
}
