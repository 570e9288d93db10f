internal import CPulse
internal import MediaCore

/// One source that is recorded, with the times of its samples. One thread.
@safe final class PulseStream {
    /// 16-bit little-endian at this rate; the server resamples.
    static let sampleRate = 48_000
    /// How often the server is asked for the time, before the times are settled and afterwards. Neither is near a
    /// multiple of PipeWire's usual period of 21 ms, so that some answers come just after a period begins.
    static let (firstAsking, asking) = (MediaTime.milliseconds(17), MediaTime.milliseconds(250))

    let target: SoundTarget
    private let handle: OpaquePointer
    private let connection: PulseConnection
    private let bytesPerFrame: Int
    /// The part of the delay until samples are heard that the server does not report.
    var sinkDelay: MediaTime
    private var clock: SoundClock
    private var breaks: UInt32 = 0
    private var position: Int64 = 0
    private var nextAsking = MediaTime.zero
    /// Nil where the server cuts off no streams.
    private var silence: SilenceWatch?

    /// - Parameters:
    ///   - channels: 1 or 2; the server mixes.
    ///   - latency: how much sound comes at once. The server, this program and the daemon wake up each time.
    ///   - sinkDelay: the part of the delay until samples are heard that the server does not report.
    ///   - comesInPieces: as for `SoundClock`.
    ///   - mayBeCutOff: the server may cut off the stream without saying so.
    /// - Returns: nil where the server refuses.
    init?(
        _ target: SoundTarget, channels: Int, latency: MediaTime, sinkDelay: MediaTime, comesInPieces: Bool,
        mayBeCutOff: Bool, _ connection: PulseConnection
    ) {
        bytesPerFrame = 2 * channels
        let fragment = Self.sampleRate * bytesPerFrame * Int(latency.milliseconds) / 1000
        guard
            let opened = unsafe upcast_pulse_record(
                connection.handle, target.source, target.playback ?? .max, CInt(channels), UInt32(fragment))
        else { return nil }
        unsafe handle = opened
        (self.target, self.connection, self.sinkDelay) = (target, connection, sinkDelay)
        let bytesPerSecond = Self.sampleRate * bytesPerFrame
        clock = SoundClock(bytesPerSecond: bytesPerSecond, comesInPieces: comesInPieces)
        silence = mayBeCutOff ? SilenceWatch(bytesPerSecond: bytesPerSecond) : nil
    }

    deinit { unsafe upcast_pulse_end(handle) }

    /// The server has stopped recording.
    var hasEnded: Bool { unsafe upcast_pulse_has_ended(handle) }
    /// Whether the server may have cut off the stream, so that a new one may get sound.
    var isCutOff: Bool { silence?.isCutOff ?? false }
    /// Whether samples have times, without which they are dropped.
    var isSettled: Bool { clock.isSettled }

    /// Gives all samples that have come to `body`, with the time at which the first of them is heard. Returns when it
    /// wants to be called again.
    func read(now: MediaTime, _ body: (RawSpan, MediaTime) throws -> Void) rethrows -> MediaTime {
        takeTiming(now)
        var changedAt: Int64 = 0
        if unsafe upcast_pulse_take_change(handle, &changedAt) { silence?.noteChange(at: changedAt) }
        var (bytes, count): (UnsafeRawPointer?, Int) = (nil, 0)
        while unsafe upcast_pulse_peek(handle, &bytes, &count) {
            defer { unsafe upcast_pulse_drop(handle) }
            let (time, place) = (clock.time(at: position), position)
            position += Int64(count)
            // A hole is silence: only the time goes on.
            guard let start = unsafe bytes, count >= bytesPerFrame else { continue }
            let whole = unsafe UnsafeRawBufferPointer(start: start, count: count - count % bytesPerFrame)
            let isWatched = silence?.isWatching ?? false
            silence?.note(count, at: place, hasSound: unsafe isWatched && whole.contains { $0 != 0 })
            if let time { try unsafe body(whole.bytes, time) }
        }
        return nextAsking
    }

    private func takeTiming(_ now: MediaTime) {
        let breaks = unsafe upcast_pulse_breaks(handle)
        if breaks != self.breaks {
            self.breaks = breaks
            clock.restart()
        }
        clock.look(at: now)
        // Samples are dropped until times are settled, so the server is asked soon.
        if !clock.isSettled { nextAsking = min(nextAsking, now + Self.firstAsking) }
        var timing = upcast_pulse_timing()
        if unsafe upcast_pulse_take_timing(handle, &timing) {
            clock.note(
                SoundClock.Reading(
                    at: MediaTime(nanoseconds: timing.at_nsec), written: timing.write_index, read: timing.read_index,
                    arrived: timing.arrived, captureDelay: SoundFacts.delay(microseconds: timing.source_usec),
                    leftDelay: SoundFacts.delay(microseconds: timing.left_usec),
                    playDelay: SoundFacts.delay(microseconds: timing.sink_usec) + sinkDelay,
                    position: timing.position))
        }
        guard now >= nextAsking else { return }
        unsafe upcast_pulse_ask_timing(handle)
        nextAsking = now + (clock.isSettled ? Self.asking : Self.firstAsking)
    }
}
