package import LinuxSystem
package import MediaCore

/// The counters of a packet log.
package struct PacketLogStatistics: Equatable, Sendable {
    /// Payload bytes in the log.
    package var bytes: Int
    /// From the oldest packet's decode time to the newest's.
    package var duration: MediaTime
    /// Packets in the log.
    package var packets: Int
    /// All written packets, including refused ones.
    package var written: Int
    /// Packets removed to make space, whether read or not.
    package var evicted: Int
    /// Packets larger than the log, or with a decode time that did not increase.
    package var refused: Int
}

/// The one store of encoded packets, between the encoders and any number of destinations.
///
/// Any thread writes; each destination reads through a cursor of its own. Storage is allocated at `init`, and anew by
/// `resize`. When full, the oldest packets go, read or not, and cursors that were behind notice; a writer never waits
/// for a reader (it waits at most for one packet's copy, or for `resize`).
package final class PacketLog: PacketSink, Sendable {
    struct State {
        let ring: PacketLogRing
        /// The time of `end` (monotonic clock); nil before it.
        var endedAt: MediaTime?
        var onKeyframeWanted: (@Sendable () -> Void)?

        func moment(_ clock: any TimeSource) -> PacketCursorState.Moment {
            let sinceEnd = endedAt.map { clock.now() - $0 } ?? .zero
            return PacketCursorState.Moment(newestDTS: ring.newestDTS + sinceEnd, isEnded: endedAt != nil)
        }
    }

    let monitor: Monitor<State>

    package init(limits: PacketLogLimits) {
        monitor = Monitor(State(ring: PacketLogRing(limits: limits)))
    }

    /// Appends a packet and wakes waiting cursors. After `end`, it does nothing.
    ///
    /// A decode time that does not rise within its track, or a payload larger than the log, is counted as refused.
    package func write(_ info: PacketInfo, payload: RawSpan) {
        unsafe payload.withUnsafeBytes { bytes in
            monitor.signal { state in
                if state.endedAt == nil { unsafe state.ring.append(info, payload: bytes) }
            }
        }
    }

    /// Takes back every packet that no reader has had, and those of earlier epochs that the encoders still hold: once
    /// it has returned, `PacketCursor.next` gives out none of them. Any thread; waits for one packet's copy at most.
    ///
    /// Packets of the new epoch may go on where the foremost reader is, though their decode times lie before those that
    /// were taken back: with a delay the gap can be filled.
    ///
    /// - Parameters:
    ///   - epoch: rises with each call.
    ///   - age: takes back only packets newer than this, against the newest; nil for all.
    package func takeBack(epoch: CurtainEpoch, newerThan age: MediaTime? = nil) -> TakenBack {
        monitor.signal { $0.ring.takeBack(epoch: epoch, newerThan: age) }
    }

    /// Any thread: holds fewer or more bytes from now on, and nothing back for longer than `maxDelay`. The oldest
    /// packets that do not fit are forgotten; with a shorter delay cursors are late at once, which they mend as ever.
    /// Little more memory is taken meanwhile than the larger of both sizes. False where the kernel refuses.
    package func resize(maxBytes: Int, maxDelay: MediaTime) -> Bool {
        monitor.signal { $0.ring.resize(maxBytes: maxBytes, maxDelay: maxDelay) }
    }

    package var limits: PacketLogLimits { monitor.withLock { $0.ring.limits } }

    /// Says at `now` (monotonic clock) that no more packets come: cursors read what is left, then get `.ended`.
    package func end(at now: MediaTime = MonotonicClock().now()) { monitor.signal { $0.endedAt = $0.endedAt ?? now } }

    /// Called on a cursor's thread, outside the lock, when a destination needs a new keyframe.
    package var onKeyframeWanted: (@Sendable () -> Void)? {
        get { monitor.withLock { $0.onKeyframeWanted } }
        set { monitor.withLock { $0.onKeyframeWanted = newValue } }
    }

    /// Makes a cursor that starts at the newest keyframe, or at the next one if that is older than the hard limit.
    package func makeCursor(
        policy: CursorPolicy = CursorPolicy(), clock: any TimeSource = MonotonicClock()
    ) -> PacketCursor {
        PacketCursor(log: self, policy: policy, clock: clock)
    }

    package var statistics: PacketLogStatistics {
        monitor.withLock { state in
            let ring = state.ring
            return PacketLogStatistics(
                bytes: ring.usedBytes, duration: ring.duration, packets: ring.end - ring.first, written: ring.end,
                evicted: ring.first, refused: ring.refused)
        }
    }
}
