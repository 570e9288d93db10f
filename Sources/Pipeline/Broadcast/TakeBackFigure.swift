internal import Buffering
internal import LinuxSystem
internal import MediaCore

/// What was taken back when the curtain was raised last: whoever raises it leaves the figure here, and the encoders'
/// threads fill the gap from there. Any thread.
///
/// The figure comes a moment after the raise. Until then a thread that has seen the raise encodes nothing, however long
/// that takes: what it encoded would be taken back, too, and the gap would stay.
final class TakeBackFigure: Sendable {
    private struct State {
        var newest: (epoch: CurtainEpoch, result: TakenBack)?
        var isOver = false
    }

    private let state = Monitor(State())

    /// Leaves the figure of the raise with this number.
    func leave(_ result: TakenBack, of epoch: CurtainEpoch) { state.signal { $0.newest = (epoch, result) } }

    /// Waits for the figure of the raise with this number, or of a later one; nil where `end` comes first.
    func wait(for epoch: CurtainEpoch) -> TakenBack? {
        state.wait { state -> TakenBack?? in
            if let newest = state.newest, newest.epoch >= epoch { return newest.result }
            return state.isOver ? .some(nil) : nil
        } ?? nil
    }

    /// The broadcast ends: nobody waits any more.
    func end() { state.signal { $0.isOver = true } }

    /// What was to be shown up to then was not taken back the last time; nil where everything was.
    var lastKeptPTS: MediaTime? { state.withLock { $0.newest?.result.lastKeptPTS } }
}
