internal import IngestProtocol
internal import LinuxSystem

/// The memories that a client shares, by its numbers for them: a few, of bounded size, mapped for reading.
///
/// Ingest thread only. They take room in the address space, and none of ours: pages stay the client's.
final class SharedPools {
    private let limits: IngestLimits
    private var pools: [(id: UInt32, memory: SharedMemory)] = []

    init(limits: IngestLimits) { self.limits = limits }

    /// Takes memory, in the place of what had its number, or gives that back. Where it is refused, the number stands
    /// for nothing: pictures that are meant for it must not be read from what was there before.
    func take(_ message: SharedMemoryMessage, _ descriptor: consuming ForeignDescriptor?) throws(ProtocolError) {
        func refused(_ why: String) -> ProtocolError {
            ProtocolError(.badSharedMemory, fatal: false, "sharedMemory: memory \(message.pool) is not taken: \(why)")
        }
        forget(message.pool)
        guard let descriptor else {
            guard message.byteCount == 0 else { throw refused("no descriptor came with the message's first byte") }
            return
        }
        guard message.byteCount > 0, message.byteCount <= UInt64(limits.maxSharedPoolBytes) else {
            throw refused("\(message.byteCount) bytes; 1 to \(limits.maxSharedPoolBytes) are allowed")
        }
        guard pools.count < IngestLimits.maxSharedPools else {
            throw refused("\(IngestLimits.maxSharedPools) are shared already, which is all that is allowed")
        }
        let memory: SharedMemory
        do throws(SharedMemory.Refusal) {
            memory = try SharedMemory(descriptor, byteCount: Int(message.byteCount))
        } catch {
            throw refused("\(error)")
        }
        pools.append((message.pool, memory))
    }

    /// From now on the number stands for nothing.
    func forget(_ pool: UInt32) { pools.removeAll { $0.id == pool } }

    /// Where a picture lies.
    func find(_ shared: SharedPayload) throws(ProtocolError) -> Payload {
        guard let memory = pools.first(where: { $0.id == shared.pool })?.memory else {
            throw ProtocolError(
                .badSharedMemory, fatal: false, "video: there is no shared memory \(shared.pool), or it was refused")
        }
        let (range, guardOffset) = try shared.ranges(in: memory.byteCount)
        return Payload(memory: memory, range: range, guardOffset: guardOffset, generation: shared.generation)
    }

    /// One picture's bytes, as long as its word has not changed.
    struct Payload {
        fileprivate let memory: SharedMemory
        fileprivate let range: Range<Int>
        fileprivate let guardOffset: Int
        fileprivate let generation: UInt64

        /// Throws where the client has begun to write something else there: before the first byte is read, and after
        /// the last.
        func check() throws(ProtocolError) {
            let found = memory.word(at: guardOffset)
            guard found == generation else {
                throw ProtocolError(
                    .sampleOverwritten, fatal: false,
                    "video: the picture's place in shared memory was written to before it was released (its word is "
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
