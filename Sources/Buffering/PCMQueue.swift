package import LinuxSystem
package import MediaCore

/// The properties of a block of PCM, without its bytes.
package struct PCMBlock: Equatable, Sendable {
    package var source: AudioSource
    package var format: AudioFormat
    package var frames: Int
    /// Start on the broadcast's timeline.
    package var time: MediaTime
    /// Monotonic clock when the block began to arrive, and when its last byte had been read.
    package var began: MediaTime
    package var arrival: MediaTime

    package var duration: MediaTime { MediaTime(sample: Int64(frames), rate: format.sampleRate) }

    package init(source: AudioSource, format: AudioFormat, frames: Int, time: MediaTime, arrival: MediaTime) {
        self.source = source
        self.format = format
        self.frames = frames
        self.time = time
        began = arrival
        self.arrival = arrival
    }
}

/// The bounded queue of raw PCM between ingest and the audio thread. If it is full, the oldest PCM is dropped.
///
/// The queue is one ring of bytes, allocated at `init`. Each block is contiguous, so that ingest receives directly into
/// it and the mixer reads directly from it. One producer and one consumer thread. It is bounded by `capacity` bytes and
/// `maxBlocks` blocks. Its duration is bounded by the mixer, which consumes in real time.
@safe package final class PCMQueue: @unchecked Sendable /* bytes of a block belong to one side at a time, see State */ {
    package static let maxBlocks = 128

    @safe package enum Outcome {
        /// Bytes are valid until `release`.
        case block(PCMBlock, UnsafeRawBufferPointer)
        case timeout
        case closed
    }

    private struct Extent {
        var start = 0
        var count = 0
        var block = PCMBlock(
            source: .app, format: AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16), frames: 0,
            time: .zero,
            arrival: .zero)
    }

    private struct State {
        /// Ring of committed blocks, oldest at `first`.
        var extents: [Extent]
        var first = 0
        var count = 0
        /// The block that the consumer reads. It is no longer part of the ring.
        var reading: Extent?
        /// The block that the producer fills.
        var filling: Extent?
        /// Where the next block would start.
        var writeOffset = 0
        var isClosed = false
        /// The durations that end the consumer's sleep; nil if each block wakes it.
        var wanted: AudioDurations?
        var dropped: UInt64 = 0
        var droppedFrames: UInt64 = 0
        var refused: UInt64 = 0

        mutating func takeOldest() -> Extent? {
            guard count > 0 else { return nil }
            let extent = extents[first]
            first = (first + 1) % extents.count
            count -= 1
            reading = extent
            return extent
        }

        mutating func dropOldest() {
            droppedFrames += UInt64(extents[first].block.frames)
            first = (first + 1) % extents.count
            count -= 1
            dropped += 1
        }
    }

    package let capacity: Int
    private let storage: UnsafeMutableRawPointer
    private let monitor: Monitor<State>
    private let clock: any TimeSource

    package init(capacity: Int, clock: any TimeSource = MonotonicClock()) {
        self.clock = clock
        self.capacity = capacity
        unsafe storage = .allocate(byteCount: capacity, alignment: 64)
        monitor = Monitor(State(extents: Array(repeating: Extent(), count: Self.maxBlocks)))
    }

    deinit { unsafe storage.deallocate() }

    /// Returns contiguous space for a block of `count` bytes, and drops the oldest blocks if necessary. Producer.
    ///
    /// Returns nil if the block is larger than the queue, or if the consumer reads where it would go. The producer then
    /// discards the sample, which counts as refused.
    package func reserve(_ count: Int) -> UnsafeMutableRawBufferPointer? {
        let start = monitor.withLock { state -> Int? in
            guard count <= capacity else {
                state.refused += 1
                return nil
            }
            // Multiples of 16 bytes keep each block aligned for vector loads.
            let size = (count + 15) & ~15
            let start = state.writeOffset + size <= capacity ? state.writeOffset : 0
            if let reading = state.reading, overlaps(reading, start, size) {
                state.refused += 1
                return nil
            }
            while state.count > 0,
                state.count == state.extents.count || overlapsAny(state, start, size)
            {
                state.dropOldest()
            }
            state.filling = Extent(start: start, count: count)
            return start
        }
        guard let start else { return nil }
        return unsafe UnsafeMutableRawBufferPointer(start: storage + start, count: count)
    }

    /// Hands over the block in the buffer that `reserve` returned. Producer.
    package func commit(_ block: PCMBlock) {
        let wakes = monitor.withLock { state in
            guard var extent = state.filling else { return false }
            state.filling = nil
            extent.block = block
            state.extents[(state.first + state.count) % state.extents.count] = extent
            state.count += 1
            state.writeOffset = extent.start + ((extent.count + 15) & ~15)
            return isReady(state)
        }
        if wakes { monitor.signal { _ in } }
    }

    /// Whether the consumer can take a block now.
    private func isReady(_ state: State) -> Bool {
        guard state.count > 0 else { return false }
        guard let wanted = state.wanted, !state.isClosed, state.count < Self.mostGathered else { return true }
        var (bytes, queued) = (0, AudioDurations())
        for index in 0..<state.count {
            let extent = state.extents[(state.first + index) % state.extents.count]
            bytes += extent.count
            queued[extent.block.source] += extent.block.duration
        }
        return bytes >= capacity / Self.gatheredShare || Self.suffices(queued, for: wanted)
    }

    /// Each block's duration is rounded down by less than a nanosecond.
    private static let rounding = MediaTime(nanoseconds: Int64(maxBlocks))

    /// Whether the queued durations end a consumer's wait. False if it wants nothing: then only the deadline ends the
    /// wait.
    static func suffices(_ queued: AudioDurations, for wanted: AudioDurations) -> Bool {
        !wanted.isZero && queued.app + rounding >= wanted.app && queued.microphone + rounding >= wanted.microphone
    }

    /// Gathering ends at this many blocks, or this part of the capacity, so that a late consumer loses nothing.
    private static let mostGathered = 32
    private static let gatheredShare = 4

    /// Cancels the reservation. Producer.
    package func abandon() { monitor.withLock { $0.filling = nil } }

    /// Takes the oldest block, or waits for one until `deadline`. Call `release` before the next `take`. Consumer.
    ///
    /// - Parameter wanted: sleep until the queue has this much of each source, or fills, because single blocks are not
    ///   worth a wake-up. All zero: sleep until the deadline. Nil: any block ends the wait.
    package func take(until deadline: MediaTime?, wanting wanted: AudioDurations? = nil) -> Outcome {
        let result = monitor.wait(until: deadline, by: clock) { state -> Extent?? in
            state.wanted = wanted
            if isReady(state) { return .some(state.takeOldest()) }
            return state.isClosed ? .some(nil) : nil
        }
        // Gathered blocks are returned after the deadline.
        guard let result else { return takeNow() ?? .timeout }
        return outcome(result)
    }

    /// Takes a block without waiting; nil if the queue is empty. Consumer.
    package func takeNow() -> Outcome? {
        monitor.withLock { $0.takeOldest() }.map { outcome($0) }
    }

    private func outcome(_ extent: Extent?) -> Outcome {
        guard let extent else { return .closed }
        return unsafe .block(extent.block, UnsafeRawBufferPointer(start: storage + extent.start, count: extent.count))
    }

    /// Releases the block that `take` returned. Consumer.
    package func release() { monitor.withLock { $0.reading = nil } }

    /// Ends the queue: no more blocks follow. The consumer still receives the queued blocks. Any thread.
    package func close() { monitor.signal { $0.isClosed = true } }

    package var isClosed: Bool { monitor.withLock { $0.isClosed } }

    package struct Statistics: Equatable, Sendable {
        /// Blocks and frames that were dropped for newer ones.
        package var dropped: UInt64
        package var droppedFrames: UInt64
        /// Blocks that did not fit.
        package var refused: UInt64
        /// Blocks in the queue.
        package var waiting: Int
    }

    package var statistics: Statistics {
        monitor.withLock {
            Statistics(
                dropped: $0.dropped, droppedFrames: $0.droppedFrames, refused: $0.refused, waiting: $0.count)
        }
    }

    private func overlaps(_ extent: Extent, _ start: Int, _ size: Int) -> Bool {
        extent.start < start + size && start < extent.start + extent.count
    }

    private func overlapsAny(_ state: State, _ start: Int, _ size: Int) -> Bool {
        for index in 0..<state.count
        where overlaps(state.extents[(state.first + index) % state.extents.count], start, size) { return true }
        return false
    }
}
