internal import Glibc
internal import IngestProtocol
internal import LinuxSystem
internal import MediaCore

/// Places in memory that the daemon reads, each for one picture. Any thread may use them.
///
/// A place is filled, sent, and free again when the daemon releases it. Three are enough: one is read, one is on its
/// way, one is filled. Memory: three times the largest picture so far, for as long as the connection exists.
final class FramePool: Sendable {
    private static let placeCount = 3
    /// The offset of the first place, after the guard words of all places.
    private static let firstPlace = 4096
    private static let wordDistance = 64

    /// Where one picture goes. Keeps the memory alive.
    struct Place {
        fileprivate let memory: OfferedMemory
        fileprivate let index: Int
        let mapping: WriterMapping?
        let shared: SharedPayload

        /// Room for the picture.
        var bytes: UnsafeMutableRawBufferPointer {
            unsafe UnsafeMutableRawBufferPointer(
                rebasing: memory.bytes[Int(shared.offset)..<Int(shared.offset + shared.byteCount)])
        }
    }

    /// What has to be equal, besides the bytes, for two pictures to be the same.
    struct Kind: Equatable {
        var format: VideoSampleFormat
        var orientation: UInt8
        var regions: SecureRegions
    }

    fileprivate enum Use: Equatable {
        case free, filling
        case sent(UInt32)
    }

    fileprivate struct State {
        var offer: SharedMemoryOffer?
        var memory: OfferedMemory?
        var mapping: WriterMapping?
        /// The writer that was asked to map the memory.
        var writer: (any FrameWriter)?
        var pool: UInt32 = 0
        var placeBytes = 0
        var generation: UInt64 = 0
        var uses: [Use] = []
        /// The place of the picture that was sent last, as long as the picture is in it.
        var latest: (index: Int, kind: Kind, sequence: UInt32)?
        /// The daemon has no picture that viewers may see.
        var lacksPicture = false
        /// The daemon makes use of damage.
        var takesDamage = false
        /// The daemon is done with all messages up to this number.
        var released: UInt32?
        /// Memory for the next frame that finds no place.
        var spare: FrameBuffer?
    }

    private let state = Monitor(State())

    /// The shared memory that the daemon takes; nil for none, and after the daemon has refused some.
    var offer: SharedMemoryOffer? {
        get { state.withLock { $0.offer } }
        set { state.withLock { $0.offer = newValue } }
    }

    /// Whether the daemon makes use of damage.
    var takesDamage: Bool {
        get { state.withLock { $0.takesDamage } }
        set { state.withLock { $0.takesDamage = newValue } }
    }

    /// A place for a picture of `byteCount` bytes; nil if none is free.
    ///
    /// - Parameters:
    ///   - writer: another process that fills the picture.
    ///   - share: sends new memory to the daemon, before the pictures that lie in it.
    func acquire(
        _ byteCount: Int, writer: (any FrameWriter)? = nil,
        share: (OfferedMemory, SharedMemoryMessage) throws(CaptureError) -> Void
    ) throws(CaptureError) -> Place? {
        try state.withLock { state throws(CaptureError) in
            guard let offer = state.offer, byteCount > 0 else { return nil }
            // A new writer has not mapped the memory of the one before.
            if state.placeBytes < byteCount || writer.map({ $0 !== state.writer }) ?? false {
                // Another thread fills a picture in the memory that would be replaced.
                guard !state.uses.contains(.filling) else { return nil }
                try Self.grow(&state, to: max(byteCount, state.placeBytes), offer, writer, share)
            }
            guard let memory = state.memory else { return nil }
            // The place of the latest picture is taken last: the next picture is compared with that.
            let latest = state.latest?.index
            guard
                let index = state.uses.indices.first(where: { $0 != latest && state.isFree(state.uses[$0]) })
                    ?? latest.flatMap({ state.isFree(state.uses[$0]) ? $0 : nil })
            else { return nil }
            if index == latest { state.latest = nil }
            state.uses[index] = .filling
            state.generation += 1
            let word = Self.wordDistance * index
            memory.setWord(at: word, to: state.generation)
            return Place(
                memory: memory, index: index, mapping: state.mapping,
                shared: SharedPayload(
                    pool: state.pool, offset: UInt64(Self.firstPlace + index * state.placeBytes),
                    byteCount: UInt64(byteCount), guardOffset: UInt64(word), generation: state.generation))
        }
    }

    /// Replaces the memory for larger pictures. The daemon lets the old memory go when it has read what was sent from
    /// there.
    private static func grow(
        _ state: inout State, to byteCount: Int, _ offer: SharedMemoryOffer, _ writer: (any FrameWriter)?,
        _ share: (OfferedMemory, SharedMemoryMessage) throws(CaptureError) -> Void
    ) throws(CaptureError) {
        let placeBytes = (byteCount + 4095) & ~4095
        let total = firstPlace + placeCount * placeBytes
        var mapping: WriterMapping?
        guard offer.maxPools > 0, total <= offer.maxPoolBytes,
            let memory = try? OfferedMemory(
                name: "upcast-frames", byteCount: total,
                prepare: { descriptor in
                    mapping = writer.flatMap { WriterMapping($0, descriptor, byteCount: total) }
                })
        else { return state.offer = nil }
        try share(memory, SharedMemoryMessage(pool: state.pool, byteCount: UInt64(memory.byteCount)))
        (state.memory, state.mapping, state.writer) = (memory, mapping, writer)
        state.placeBytes = placeBytes
        state.uses = Array(repeating: .free, count: placeCount)
        state.latest = nil
    }

    /// Notes that the picture was sent as the message `sequence`; nil if it was not sent.
    func sent(_ place: Place, as sequence: UInt32?, _ kind: Kind) {
        state.withLock { state in
            guard state.memory === place.memory else { return }
            state.uses[place.index] = sequence.map(Use.sent) ?? .free
            state.latest = sequence.map { (place.index, kind, $0) }
        }
    }

    /// Frees a place from which nothing was sent.
    func giveBack(_ place: Place) {
        state.withLock { if $0.memory === place.memory { $0.uses[place.index] = .free } }
    }

    /// Memory for a frame that finds no place.
    func buffer(_ byteCount: Int) -> FrameBuffer {
        let spare = state.withLock { state in
            defer { state.spare = nil }
            return state.spare
        }
        if let spare, unsafe spare.bytes.count >= byteCount { return spare }
        return FrameBuffer(byteCount: byteCount)
    }

    func keep(_ buffer: FrameBuffer) { state.withLock { $0.spare = buffer } }

    /// How a picture differs from the one that was sent last.
    enum Difference {
        case none
        case some(DamageField)
        /// In most of it, or in unknown parts.
        case all
    }

    /// Compares a picture with the one that was sent last. If they are the same, this costs less than a copy. If the
    /// daemon does not use damage, the comparison ends at the first difference.
    ///
    /// - Parameter damage: the damage that the caller knows; nothing is compared then.
    func difference(of pieces: PayloadPieces, _ kind: Kind, known damage: CaptureDamage?) -> Difference {
        state.withLock { state in
            guard let latest = state.latest, latest.kind == kind, let memory = state.memory,
                pieces.byteCount <= state.placeBytes
            else { return .all }
            if let damage {
                guard let damage = damage.damage(width: kind.format.width, height: kind.format.height) else {
                    return .none
                }
                return state.takesDamage ? .some(DamageField(since: latest.sequence, damage: damage)) : .all
            }
            let start = unsafe UnsafeRawPointer(
                memory.bytes.baseAddress! + Self.firstPlace + latest.index * state.placeBytes)
            guard state.takesDamage else {
                return unsafe pieces.isEqual(to: start, 0..<pieces.byteCount) ? .none : .all
            }
            let rows = unsafe Self.changedRows(of: pieces, kind.format, since: start)
            if rows.count == 0 { return .none }
            return rows.damage.map { .some(DamageField(since: latest.sequence, damage: $0)) } ?? .all
        }
    }

    private static func changedRows(
        of pieces: PayloadPieces, _ format: VideoSampleFormat, since earlier: UnsafeRawPointer
    ) -> ChangedRows {
        var rows = ChangedRows(width: format.width, height: format.height)
        for plane in 0..<format.pixelFormat.planeCount {
            let (location, shape) = (format.plane(plane), format.pixelFormat.plane(plane))
            let bandBytes = ChangedRows.bandRows / shape.heightDivisor * location.stride
            let end = location.offset + format.planeBytes(plane)
            for band in 0..<rows.bandCount where !rows.hasChanged(band) {
                let begin = location.offset + band * bandBytes
                guard begin < end else { break }
                if unsafe !pieces.isEqual(to: earlier, begin..<min(end, begin + bandBytes)) { rows.note(band) }
            }
        }
        return rows
    }

    /// Notes that the daemon may not have the picture that was sent last.
    ///
    /// - Parameter lacksIt: whether the daemon has no picture that viewers may see, and waits for one.
    func forgetLatest(lacksIt: Bool = false) {
        state.withLock {
            $0.latest = nil
            if lacksIt { $0.lacksPicture = true }
        }
    }

    /// Whether the daemon waits for a picture.
    var lacksPicture: Bool { state.withLock { $0.lacksPicture } }

    /// Whether the daemon waits for a picture. Returns true once.
    func takeLack() -> Bool {
        state.withLock { state in
            defer { state.lacksPicture = false }
            return state.lacksPicture
        }
    }

    func released(_ message: ReleasedMessage) { state.withLock { $0.released = message.sequence } }
}

extension FramePool.State {
    /// Sequence numbers wrap around; no two that are compared are far apart.
    fileprivate func isFree(_ use: FramePool.Use) -> Bool {
        switch use {
        case .free: true
        case .filling: false
        case .sent(let sequence): released.map { Int32(bitPattern: $0 &- sequence) >= 0 } ?? false
        }
    }
}
