package import LinuxSystem
package import MediaCore

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

/// The only store of encoded packets, between the encoders and the destinations.
///
/// Any thread writes; each destination reads through its own cursor. Storage is allocated at `init`, and again by
/// `resize`. When the log is full, the oldest packets are evicted, read or not, and late cursors count them as drops. A
/// writer never waits for a reader; it waits at most for one packet's copy, or for `resize`.
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
    /// Counts a packet as refused if its decode time does not rise within its track, or if its payload is larger than
    /// the log.
    package func write(_ info: PacketInfo, payload: RawSpan) {
        unsafe payload.withUnsafeBytes { bytes in
            monitor.signal { state in
                if state.endedAt == nil { unsafe state.ring.append(info, payload: bytes) }
            }
        }
    }

    /// Takes back all packets in the log, and packets of earlier epochs that the encoders still hold. Once this
    /// returns, `PacketCursor.next` returns none of them. Any thread; waits at most for one packet's copy.
    ///
    /// Packets of the new epoch may continue at the position of the foremost reader. Their decode times may lie before
    /// those of the packets taken back, so that they can fill the gap of a delay.
    ///
    /// - Parameters:
    ///   - epoch: rises with each call.
    ///   - age: takes back only packets newer than this, relative to the newest; nil for all.
    package func takeBack(epoch: CurtainEpoch, newerThan age: MediaTime? = nil) -> TakenBack {
        monitor.signal { $0.ring.takeBack(epoch: epoch, newerThan: age) }
    }

    /// Changes the maximum bytes and the maximum delay. Evicts the oldest packets that do not fit. With a shorter
    /// delay, cursors are late at once, and catch up as usual. Meanwhile the log takes little more memory than the
    /// larger of both sizes. Returns false if the kernel has no memory. Any thread.
    package func resize(maxBytes: Int, maxDelay: MediaTime) -> Bool {
        monitor.signal { $0.ring.resize(maxBytes: maxBytes, maxDelay: maxDelay) }
    }

    package var limits: PacketLogLimits { monitor.withLock { $0.ring.limits } }

    /// Ends the log at `now` (monotonic clock). Cursors read the remaining packets, then get `.ended`.
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
