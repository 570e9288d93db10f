internal import LinuxSystem
package import MediaCore

/// The result of `PacketCursor.next`.
package enum CursorResult: Equatable, Sendable {
    /// The buffer holds this packet's payload.
    case packet(PacketInfo, byteCount: Int)
    /// The deadline passed.
    case timeout
    /// The log has ended, and the cursor has read all packets.
    case ended
    /// `wake` was called.
    case woken
}

/// How far a cursor is behind the log.
package struct CursorBacklog: Equatable, Sendable {
    package var packets = 0
    /// Payload bytes that were written and not read. They include packets that a delay holds back, and packets of the
    /// other track that were read meanwhile.
    package var bytes = 0
    /// Decode time from the next packet to the newest one that is due.
    package var duration = MediaTime.zero

    package init() {}
}

/// A destination's cursor of the packet log, with the policy for a late destination.
///
/// One thread reads; any thread may call the other methods.
package final class PacketCursor: @unchecked Sendable /* what varies is touched under the log's lock only */ {
    private let log: PacketLog
    private let clock: any TimeSource
    private var state: PacketCursorState
    private var isWoken = false

    init(log: PacketLog, policy: CursorPolicy, clock: any TimeSource) {
        self.log = log
        self.clock = clock
        state = PacketCursorState(policy: policy)
    }

    /// Copies the next packet's payload into `buffer`, after `headroom` free bytes. Waits for a packet until `deadline`
    /// (by the clock of `init`).
    ///
    /// Drops and counts a packet that does not fit into the buffer.
    package func next(into buffer: inout PacketBuffer, headroom: Int, until deadline: MediaTime?) -> CursorResult {
        while true {
            var request: (@Sendable () -> Void)?
            let result = log.monitor.wait(until: deadline, by: clock) { log -> CursorResult?? in
                if isWoken {
                    isWoken = false
                    return .woken
                }
                let moment = log.moment(clock)
                let step = state.next(in: log.ring, at: moment, largest: buffer.largestPayload(headroom))
                if state.takeKeyframeRequest(in: log.ring, at: moment) { request = log.onKeyframeWanted }
                switch step {
                case .deliver(let sequence):
                    let entry = log.ring[sequence]
                    log.ring.noteDelivered(entry.info)
                    buffer.place(headroom: headroom, byteCount: entry.byteCount)
                    unsafe buffer.withPayload { unsafe log.ring.copyPayload(of: sequence, to: $0) }
                    return .packet(entry.info, byteCount: entry.byteCount)
                case .ended: return .ended
                // The callback must not run under the lock: leave the lock, call it, and try again.
                case .wait: return request == nil ? nil : .some(nil)
                }
            }
            request?()
            guard let result else { return .timeout }
            if let result { return result }
        }
    }

    /// Prepares for a new connection. The next video packet is a keyframe that was not delivered before. Packets before
    /// it count as drops of `cause`. Decode times keep rising.
    package func restart(counting cause: DropCause) { log.monitor.withLock { _ in state.restart(counting: cause) } }

    /// Makes the current call of `next`, or the following one, return `.woken`.
    package func wake() { log.monitor.signal { _ in isWoken = true } }

    package var drops: DropCounters { log.monitor.withLock { _ in state.drops } }

    /// How far the cursor is behind the log. A configured delay does not count as lag. Packets that the cursor passed
    /// before its first keyframe do not count.
    package var backlog: CursorBacklog {
        log.monitor.withLock { log in
            let next = max(state.position, log.ring.first)
            var backlog = CursorBacklog()
            guard next < log.ring.end else { return backlog }
            backlog.packets = state.unread(in: log.ring)
            backlog.bytes = log.ring.offset(of: log.ring.end) - log.ring.offset(of: next)
            backlog.duration = state.lag(in: log.ring, at: log.moment(clock))
            return backlog
        }
    }
}
