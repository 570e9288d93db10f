internal import CRTMPSocket
internal import LinuxSystem

/// Between a destination's packets and its connection: what must not go out any more does not, even where its writing
/// has begun.
///
/// The destination's thread asks before each packet. Another thread raises the epoch: from then on older packets are
/// refused, and where one is being written, or bytes wait in the kernel, the connection is broken at once, without
/// their being sent. Any thread.
final class TakeBackGate: Sendable {
    private struct State {
        var epoch: UInt32 = 0
        /// The epoch of the packet that is being written.
        var writing: UInt32?
        /// Of the connection, while there is one.
        var descriptor: CInt?
        var isCut = false
    }

    private let state = Monitor(State())

    /// A connection begins, or is over before its descriptor is closed.
    func use(_ descriptor: CInt?) {
        state.withLock { state in
            state.descriptor = descriptor
            if descriptor != nil { state.isCut = false }
        }
    }

    /// Whether a packet may be written; if so, `end` follows.
    func begin(_ epoch: UInt32) -> Bool {
        state.withLock { state in
            guard epoch >= state.epoch else { return false }
            state.writing = epoch
            return true
        }
    }

    func end() { state.withLock { $0.writing = nil } }

    /// Whether the connection was broken here.
    var isCut: Bool { state.withLock { $0.isCut } }

    /// No packet of an earlier epoch goes out once this returns.
    func raise(to epoch: UInt32) {
        state.withLock { state in
            state.epoch = max(state.epoch, epoch)
            guard let descriptor = state.descriptor else { return }
            let isWriting = state.writing.map { $0 < epoch } ?? false
            guard isWriting || upcast_tcp_unsent_bytes(descriptor) > 0 else { return }
            upcast_tcp_disconnect(descriptor)
            state.isCut = true
        }
    }
}
