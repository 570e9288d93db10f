internal import LinuxSystem
package import MediaCore

/// The one moment at which every input begins: as soon as each of them has given its first sample.
///
/// Without it a pipe whose writer needs a second to begin would be a second behind the file beside it for the whole
/// broadcast. Inputs are known by their names; any thread may call anything.
package final class CommonStart: Sendable {
    private struct State {
        var missing: Set<String>
        /// The last first sample so far; threads may call in another order than their clocks were read in.
        var latest = MediaTime.zero
        var time: MediaTime?
        var isCancelled = false
    }

    private let state: Monitor<State>

    /// - Parameter inputs: whom to wait for; none begins at the first call of `arrived`.
    package init(_ inputs: Set<String>) { state = Monitor(State(missing: inputs)) }

    /// When the inputs began; nil while one of them is missing.
    package var time: MediaTime? { state.withLock { $0.time } }

    /// The first sample of `input` is there: waits until every input has come so far.
    ///
    /// - Parameter now: on the clock that the start is to be told in.
    /// - Returns: the time of the input's first sample, the same for all; `now` for one that came after the start; nil
    ///   after `cancel`.
    package func arrived(_ input: String, at now: MediaTime) -> MediaTime? {
        if let time { return max(time, now) }
        remove(input, at: now)
        return state.wait { $0.isCancelled ? .some(nil) : $0.time.map { .some($0) } } ?? nil
    }

    /// `input` will not come (or has come already): the others need not wait for it.
    package func withdraw(_ input: String, at now: MediaTime) { remove(input, at: now) }

    /// Begins without those that are missing; returns their names, in order.
    package func expire(at now: MediaTime) -> [String] {
        state.signal { state in
            defer { state.missing = [] }
            if state.time == nil { state.time = now }
            return state.missing.sorted()
        }
    }

    /// Wakes whoever waits; nothing begins any more.
    package func cancel() { state.signal { $0.isCancelled = true } }

    private func remove(_ input: String, at now: MediaTime) {
        state.signal { state in
            state.missing.remove(input)
            state.latest = max(state.latest, now)
            if state.missing.isEmpty, state.time == nil { state.time = state.latest }
        }
    }
}
