internal import CRTMPSocket
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
        var epoch: UInt32 = 0
        /// Packets of the epoch before that were decoded up to then still pass.
        var keptUntil: MediaTime?
        /// The packet that is being written, and the newest that was since the connection began.
        var writing: PacketInfo?
        var written: PacketInfo?
        /// Of all that passed.
        var lastPTS: MediaTime?
        /// Of the connection, while there is one.
        var descriptor: CInt?
        var isCut = false

        func admits(_ packet: PacketInfo) -> Bool {
            guard packet.epoch < epoch else { return true }
            guard let keptUntil, packet.epoch + 1 == epoch else { return false }
            return packet.dts <= keptUntil
        }
    }

    private let state = Monitor(State())

    /// A connection begins, or is over before its descriptor is closed.
    func use(_ descriptor: CInt?) {
        state.withLock { state in
            state.descriptor = descriptor
            state.written = nil
            if descriptor != nil { state.isCut = false }
        }
    }

    /// Whether a packet may be written; if so, `end` follows.
    func begin(_ packet: PacketInfo) -> Bool {
        state.withLock { state in
            guard state.admits(packet) else { return false }
            state.writing = packet
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
    func raise(to epoch: UInt32, keeping keptUntil: MediaTime? = nil) -> MediaTime? {
        state.withLock { state in
            state.epoch = max(state.epoch, epoch)
            state.keptUntil = keptUntil
            guard let descriptor = state.descriptor else { return state.lastPTS }
            let isWriting = state.writing.map { !state.admits($0) } ?? false
            let isWaiting = state.written.map { !state.admits($0) } ?? false
            guard isWriting || (isWaiting && upcast_tcp_unsent_bytes(descriptor) > 0) else { return state.lastPTS }
            upcast_tcp_disconnect(descriptor)
            state.isCut = true
            return state.lastPTS
        }
    }
}
