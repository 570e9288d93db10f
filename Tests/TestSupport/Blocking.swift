import Foundation
import LinuxSystem

/// Runs a test that waits for processes on its own thread, so that it does not block one of the few threads that all
/// other tests run on. A few such tests run at once; the others wait for their turn.
package func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    await Turns.shared.take()
    defer { Turns.shared.give() }
    // This is an executor, not a bare thread, so that the body stays in the test's task, and failures count for that
    // test.
    return try await withTaskExecutorPreference(OwnThreads.shared) { try body() }
}

/// Broadcasts are paced by the clock and hardly load a core, but too many at once would miss their times.
private final class Turns: Sendable {
    static let shared = Turns(free: max(3, ProcessInfo.processInfo.activeProcessorCount * 2))

    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state: Monitor<State>

    private init(free: Int) { state = Monitor(State(free: free)) }

    func take() async {
        await withCheckedContinuation { continuation in
            let mayRun = state.withLock { state in
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if mayRun { continuation.resume() }
        }
    }

    func give() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
