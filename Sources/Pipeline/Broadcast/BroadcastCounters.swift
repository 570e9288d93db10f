internal import LinuxSystem
internal import Measurement
internal import MediaCore
internal import Synchronization

/// A count that one thread raises and any thread reads.
final class AtomicCount: Sendable {
    private let value = Atomic<UInt64>(0)
    func add(_ amount: UInt64 = 1) { value.wrappingAdd(amount, ordering: .relaxed) }
    func set(_ amount: UInt64) { value.store(amount, ordering: .relaxed) }
    var current: UInt64 { value.load(ordering: .relaxed) }
    var asInt: Int { Int(clamping: current) }
}

/// The counters of one broadcast: its data threads write them, and control reads them at any time. Each drop has a
/// cause.
final class BroadcastCounters: Sendable {
    /// Video samples whose message was accepted.
    let framesReceived = AtomicCount()
    /// Frames that were encoded, without repeats.
    let framesEncoded = AtomicCount()
    /// Repeats of the last canvas while the screen did not change.
    let framesRepeated = AtomicCount()
    /// Frames of which only the changed part was converted.
    let framesPartial = AtomicCount()
    /// Frames that look like the one before; the previous picture stays.
    let framesUnchanged = AtomicCount()
    /// Frames that were abandoned during arrival (malformed, or the client vanished).
    let framesAbandoned = AtomicCount()
    /// Frames that the timeline refused (PTS not after the previous PTS).
    let framesOutOfOrder = AtomicCount()
    /// Frames that a newer one replaced because the source is faster than the canvas's frame rate.
    let framesAboveRate = AtomicCount()
    /// Frames that arrived while an operator had paused the broadcast.
    let framesPaused = AtomicCount()
    /// PCM blocks that arrived while an operator had paused the broadcast.
    let audioPaused = AtomicCount()
    /// Frames that arrived while the curtain was up, or that were in progress when it was raised.
    let framesCurtained = AtomicCount()
    /// Samples with a missing or an invalid orientation tag; they are treated as upright.
    let orientationMissing = AtomicCount()
    let orientationInvalid = AtomicCount()
    /// Changes of size, format, orientation or colour from one frame to the next.
    let formatChanges = AtomicCount()
    /// Accepted PCM blocks and frames, by source.
    let audioBlocks: [AtomicCount] = AudioSource.allCases.map { _ in AtomicCount() }
    let audioFrames: [AtomicCount] = AudioSource.allCases.map { _ in AtomicCount() }
    /// Blocks that the mixer refused.
    let audioRefused = AtomicCount()
    /// Time from a frame's last byte at the socket to the end of its encoding.
    let encodeLatency = Monitor(LatencyHistogram())
}
