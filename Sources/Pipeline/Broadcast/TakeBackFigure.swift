internal import Buffering
internal import LinuxSystem
internal import MediaCore

/// The result of the newest take-back. The thread that raises the curtain leaves it here, and the encoders' threads
/// fill the gap from there. Any thread.
///
/// The result comes a moment after the raise. A thread that has seen the raise encodes nothing until then, however long
/// that takes. Anything that it encoded would be taken back, too, and the gap would stay.
final class TakeBackFigure: Sendable {
    private struct State {
        var newest: (epoch: CurtainEpoch, result: TakenBack)?
        var isOver = false
    }

    private let state = Monitor(State())

    /// Leaves the result of the raise with this number.
    func leave(_ result: TakenBack, of epoch: CurtainEpoch) { state.signal { $0.newest = (epoch, result) } }

    /// Waits for the result of this raise or a later one. Returns nil if `end` comes first.
    func wait(for epoch: CurtainEpoch) -> TakenBack? {
        state.wait { state -> TakenBack?? in
            if let newest = state.newest, newest.epoch >= epoch { return newest.result }
            return state.isOver ? .some(nil) : nil
        } ?? nil
    }

    /// Ends all waits, because the broadcast ends.
    func end() { state.signal { $0.isOver = true } }

    /// The newest presentation time that the newest take-back kept; nil if it kept nothing.
    var lastKeptPTS: MediaTime? { state.withLock { $0.newest?.result.lastKeptPTS } }
}
