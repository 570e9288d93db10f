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

/// What one broadcast has counted: written by its data threads, read by control at any time. Every drop has its cause.
final class BroadcastCounters: Sendable {
    /// Video samples whose message was accepted.
    let framesReceived = AtomicCount()
    /// Frames handed to the encoder, repeats not included.
    let framesEncoded = AtomicCount()
    /// Repeats of the last canvas on a static screen.
    let framesRepeated = AtomicCount()
    /// Of which only what had changed was converted.
    let framesPartial = AtomicCount()
    /// Frames that look as the one before, which is shown on instead.
    let framesUnchanged = AtomicCount()
    /// Frames given up while they arrived (malformed, or the client vanished).
    let framesAbandoned = AtomicCount()
    /// Frames that the timeline refused (PTS not after the previous one's).
    let framesOutOfOrder = AtomicCount()
    /// Frames replaced by a newer one because the source is faster than the canvas's frame rate.
    let framesAboveRate = AtomicCount()
    /// Frames that came while an operator held the broadcast.
    let framesPaused = AtomicCount()
    /// The same for PCM blocks.
    let audioPaused = AtomicCount()
    /// Frames that came while the curtain was up, or that were in hand when it was raised.
    let framesCurtained = AtomicCount()
    /// Samples without, or with an invalid, orientation tag; treated as up.
    let orientationMissing = AtomicCount()
    let orientationInvalid = AtomicCount()
    /// Changes of size, format, orientation or colour from one frame to the next.
    let formatChanges = AtomicCount()
    /// PCM blocks and frames accepted, by source.
    let audioBlocks: [AtomicCount] = AudioSource.allCases.map { _ in AtomicCount() }
    let audioFrames: [AtomicCount] = AudioSource.allCases.map { _ in AtomicCount() }
    /// Blocks that the mixer refused.
    let audioRefused = AtomicCount()
    /// Time from a frame's last byte at the socket to the end of its encoding.
    let encodeLatency = Monitor(LatencyHistogram())
}
