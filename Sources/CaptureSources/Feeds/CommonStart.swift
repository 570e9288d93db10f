internal import LinuxSystem
package import MediaCore

/// The common start of all inputs: when each of them has its first sample.
///
/// Without a common start, a pipe whose writer needs a second to begin would stay a second behind the file beside it.
/// Inputs are identified by name. Any thread may call any method.
package final class CommonStart: Sendable {
    private struct State {
        var missing: Set<String>
        /// The latest time of a first sample so far. The order of the calls may differ from that of their clock
        /// readings.
        var latest = MediaTime.zero
        var time: MediaTime?
        var isCancelled = false
    }

    private let state: Monitor<State>

    /// - Parameter inputs: the inputs to wait for. If empty, the first call of `arrived` starts.
    package init(_ inputs: Set<String>) { state = Monitor(State(missing: inputs)) }

    /// The time of the start; nil while inputs are missing.
    package var time: MediaTime? { state.withLock { $0.time } }

    /// Notes the first sample of `input`, and waits until all inputs have one.
    ///
    /// - Parameter now: the current time on the clock of the start.
    /// - Returns: the time of the input's first sample, which is the same for all inputs. An input that comes after the
    ///   start gets `now`. Nil after `cancel`.
    package func arrived(_ input: String, at now: MediaTime) -> MediaTime? {
        if let time { return max(time, now) }
        remove(input, at: now)
        return state.wait { $0.isCancelled ? .some(nil) : $0.time.map { .some($0) } } ?? nil
    }

    /// Stops waiting for `input`: it will not come, or has come already.
    package func withdraw(_ input: String, at now: MediaTime) { remove(input, at: now) }

    /// Starts without the missing inputs. Returns their sorted names.
    package func expire(at now: MediaTime) -> [String] {
        state.signal { state in
            defer { state.missing = [] }
            if state.time == nil { state.time = now }
            return state.missing.sorted()
        }
    }

    /// Wakes all waiting threads. Nothing starts afterwards.
    package func cancel() { state.signal { $0.isCancelled = true } }

    private func remove(_ input: String, at now: MediaTime) {
        state.signal { state in
            state.missing.remove(input)
            state.latest = max(state.latest, now)
            if state.missing.isEmpty, state.time == nil { state.time = state.latest }
        }
    }
}
