internal import LinuxSystem
internal import MediaCore

/// Stands between a destination's packets and its connection. It stops packets that were taken back, even if their
/// write has begun.
///
/// The destination's thread asks before each packet. Another thread raises the epoch. From then on older packets are
/// refused. If such a packet is being written, or its bytes wait in the kernel, the connection is broken at once and
/// the bytes are not sent. Any thread.
final class TakeBackGate: Sendable {
    private struct State {
        var epoch: CurtainEpoch = .first
        /// Packets of the previous epoch up to this decode time still pass.
        var keptUntil: MediaTime?
        /// The packet that is being written, and the newest one on this connection by decode time.
        var writing: PacketInfo?
        var written: PacketInfo?
        /// The newest presentation time of all packets that passed.
        var lastPTS: MediaTime?
        /// The queue of the current connection or file; nil for none.
        var unsent: (any UnsentMedia)?
        var isCut = false
        /// All unacknowledged bytes were written after this time.
        var outstandingSince = MediaTime.zero
        /// The other side must acknowledge this many bytes of the connection. Then nothing older than the epoch can be
        /// sent again.
        var awaited: UInt64?

        func admits(_ packet: PacketInfo) -> Bool {
            guard packet.epoch < epoch else { return true }
            guard let keptUntil, packet.epoch.next == epoch else { return false }
            return packet.dts <= keptUntil
        }

        /// Whether some bytes are lost, or probably lost because nothing has been acknowledged for longer than
        /// `patience`.
        func hasLost(_ delivery: Delivery, at now: MediaTime) -> Bool {
            guard delivery.outstanding > 0 else { return false }
            return delivery.isSendingAgain || min(delivery.silence, now - outstandingSince) > delivery.patience
        }
    }

    private let state = Monitor(State())
    private let clock: any TimeSource

    init(clock: any TimeSource) { self.clock = clock }

    /// Called when a connection or file begins.
    func use(_ unsent: any UnsentMedia) {
        state.withLock { state in
            state.unsent = unsent
            state.written = nil
            state.isCut = false
            state.outstandingSince = clock.now()
            state.awaited = nil
        }
    }

    /// Called before a connection or file is closed. Discards unacknowledged bytes, so that a take-back needs no access
    /// to the connection any more.
    ///
    /// - Parameter isInOrder: false discards in any case.
    func release(inOrder isInOrder: Bool) {
        state.withLock { state in
            if let unsent = state.unsent, !isInOrder || !unsent.isAcknowledged { unsent.discard() }
            state.unsent = nil
            state.written = nil
            state.awaited = nil
            // The attempts that follow have errors of their own.
            state.isCut = false
        }
    }

    /// Whether the packet may be written. If so, call `end` after the write.
    func begin(_ packet: PacketInfo) -> Bool {
        state.withLock { state in
            guard state.admits(packet) else { return false }
            state.writing = packet
            if state.unsent?.isAcknowledged ?? false { state.outstandingSince = clock.now() }
            state.lastPTS = max(state.lastPTS ?? packet.pts, packet.pts)
            if let written = state.written, written.dts > packet.dts {} else { state.written = packet }
            return true
        }
    }

    func end() { state.withLock { $0.writing = nil } }

    /// The newest presentation time that has been sent, in whole or in part.
    var lastPTS: MediaTime? { state.withLock { $0.lastPTS } }

    /// Whether the gate has broken the connection that is in use.
    var isCut: Bool { state.withLock { $0.isCut } }

    /// Raises the epoch. Once this returns, no packet of an earlier epoch is sent, except those decoded up to
    /// `keptUntil`.
    ///
    /// - Returns: `lastPTS` at that time.
    func raise(to epoch: CurtainEpoch, keeping keptUntil: MediaTime? = nil) -> MediaTime? {
        state.withLock { state in
            state.epoch = max(state.epoch, epoch)
            state.keptUntil = keptUntil
            guard let unsent = state.unsent else { return state.lastPTS }
            let isWriting = state.writing.map { !state.admits($0) } ?? false
            let isWaiting = state.written.map { !state.admits($0) } ?? false
            let delivery = isWaiting ? unsent.delivery : nil
            let hasLost = delivery.map { state.hasLost($0, at: clock.now()) } ?? false
            guard isWriting || hasLost || (isWaiting && unsent.isWaiting) else {
                // Bytes on their way may get lost, and the kernel would then send them again.
                if let delivery, delivery.outstanding > 0 { state.awaited = delivery.written }
                return state.lastPTS
            }
            unsent.discard()
            state.isCut = true
            return state.lastPTS
        }
    }

    /// Whether bytes from before the epoch are on their way. Then `cutIfLost` must be called again soon.
    var isAwaiting: Bool { state.withLock { $0.awaited != nil } }

    /// Breaks the connection if bytes from before the epoch were on their way when it was raised, and got lost. Returns
    /// whether it did.
    func cutIfLost() -> Bool {
        state.withLock { state in
            guard let awaited = state.awaited else { return false }
            guard let unsent = state.unsent, let delivery = unsent.delivery, delivery.outstanding > 0,
                delivery.acknowledged < awaited
            else {
                state.awaited = nil
                return false
            }
            guard state.hasLost(delivery, at: clock.now()) else { return false }
            unsent.discard()
            state.isCut = true
            state.awaited = nil
            return true
        }
    }
}
