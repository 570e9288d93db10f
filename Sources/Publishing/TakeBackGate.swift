internal import LinuxSystem
internal import MediaCore

/// Between a destination's packets and its connection: what must not go out any more does not, even where its writing
/// has begun.
///
/// The destination's thread asks before each packet. Another thread raises the epoch: from then on older packets are
/// refused, and where one is being written, or bytes wait in the kernel, the connection is broken at once, without
/// their being sent. Any thread.
final class TakeBackGate: Sendable {
    private struct State {
        var epoch: CurtainEpoch = .first
        /// Packets of the epoch before that were decoded up to then still pass.
        var keptUntil: MediaTime?
        /// The packet that is being written, and the newest that was since the connection began.
        var writing: PacketInfo?
        var written: PacketInfo?
        /// Of all that passed.
        var lastPTS: MediaTime?
        /// Of the connection or file, while there is one.
        var unsent: (any UnsentMedia)?
        var isCut = false
        /// What is not acknowledged was written since then.
        var outstandingSince = MediaTime.zero
        /// Bytes of the connection that the other side must have before nothing older than the epoch can be sent again.
        var awaited: UInt64?

        func admits(_ packet: PacketInfo) -> Bool {
            guard packet.epoch < epoch else { return true }
            guard let keptUntil, packet.epoch.next == epoch else { return false }
            return packet.dts <= keptUntil
        }

        /// Some of it is lost, or nothing has been acknowledged for so long that it probably is.
        func hasLost(_ delivery: Delivery, at now: MediaTime) -> Bool {
            guard delivery.outstanding > 0 else { return false }
            return delivery.isSendingAgain || min(delivery.silence, now - outstandingSince) > delivery.patience
        }
    }

    private let state = Monitor(State())
    private let clock: any TimeSource

    init(clock: any TimeSource) { self.clock = clock }

    /// A connection or file begins.
    func use(_ unsent: any UnsentMedia) {
        state.withLock { state in
            state.unsent = unsent
            state.written = nil
            state.isCut = false
            state.outstandingSince = clock.now()
            state.awaited = nil
        }
    }

    /// It is over, and about to be closed: what the other side has not acknowledged is thrown away, so that nobody has
    /// to reach it any more.
    ///
    /// - Parameter isInOrder: false throws it away in any case.
    func release(inOrder isInOrder: Bool) {
        state.withLock { state in
            if let unsent = state.unsent, !isInOrder || !unsent.isAcknowledged { unsent.discard() }
            state.unsent = nil
            state.written = nil
            state.awaited = nil
        }
    }

    /// Whether a packet may be written; if so, `end` follows.
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

    /// The newest presentation time of what has gone out, in whole or in part.
    var lastPTS: MediaTime? { state.withLock { $0.lastPTS } }

    /// Whether the connection was broken here.
    var isCut: Bool { state.withLock { $0.isCut } }

    /// No packet of an earlier epoch goes out once this returns, but those that were decoded up to `keptUntil`.
    ///
    /// - Returns: `lastPTS` as it was then.
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
                // What is on its way may get lost there, and the kernel would send it again.
                if let delivery, delivery.outstanding > 0 { state.awaited = delivery.written }
                return state.lastPTS
            }
            unsent.discard()
            state.isCut = true
            return state.lastPTS
        }
    }

    /// Something from before the epoch is on its way: `cutIfLost` is to be asked again soon.
    var isAwaiting: Bool { state.withLock { $0.awaited != nil } }

    /// Breaks the connection where something from before the epoch was on its way when it was raised, and has got lost
    /// there; true where that was so.
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
