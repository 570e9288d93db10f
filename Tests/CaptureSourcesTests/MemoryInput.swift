import CaptureSources
import LinuxSystem
import MediaCore

/// Bytes out of memory, handed out in small pieces as a pipe does.
final class MemoryInput: ByteInput {
    private let bytes: [UInt8]
    private let piece: Int
    private let canRewind: Bool
    private var position = 0

    init(_ bytes: [UInt8], piece: Int = 7, canRewind: Bool = true) {
        self.bytes = bytes
        self.piece = piece
        self.canRewind = canRewind
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(piece, buffer.count, bytes.count - position)
        for index in 0..<count { buffer[index] = bytes[position + index] }
        position += count
        return count
    }

    func rewind() -> Bool {
        if canRewind { position = 0 }
        return canRewind
    }
}

/// Time that passes only while somebody waits, or sends.
final class ManualClock: FeedClock {
    private let state: Monitor<(now: MediaTime, waits: [MediaTime], stopAt: MediaTime?)>

    init(_ now: MediaTime, stopAt: MediaTime? = nil) { state = Monitor((now, [], stopAt)) }

    func now() -> MediaTime { state.withLock { $0.now } }
    /// 1,000 s of `now` are the year 2026.
    func sinceEpoch() -> MediaTime { now() + .seconds(1_795_000_000) }
    func advance(_ by: MediaTime) { state.withLock { $0.now += by } }
    var waits: [MediaTime] { state.withLock { $0.waits } }

    func wait(until deadline: MediaTime) -> Bool {
        state.withLock { state in
            state.waits.append(deadline)
            if let stop = state.stopAt, max(state.now, deadline) >= stop {
                state.now = max(state.now, stop)
                return false
            }
            state.now = max(state.now, deadline)
            return true
        }
    }
}
