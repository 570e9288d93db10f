import Foundation
import LinuxSystem
package import MediaCore

/// An event did not happen within its deadline, or a wrong one happened. The text says what was seen instead.
package struct TestFailure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// How long tests wait for events. Every deadline of `TestSupport` is computed here.
package enum Patience {
    /// Sanitizers slow everything down. `scripts/test --sanitize` sets the variable.
    package static let factor: Double = isSanitized ? 4 : 1

    package static let isSanitized = ProcessInfo.processInfo.environment["UPCAST_SANITIZER"] != nil

    /// Converts seconds on a machine of usual speed to seconds on this one.
    package static func scaled(_ seconds: Double) -> Double { seconds * factor }

    /// The end of a wait of `seconds` that begins now.
    package static func deadline(_ seconds: Double) -> MediaTime {
        MonotonicClock().now() + .milliseconds(Int64(scaled(seconds) * 1000))
    }
}

/// Calls `probe` every few milliseconds until it returns a value. Throws with `what` and `evidence` at the deadline.
package func waitFor<Value>(
    _ what: String, within seconds: Double = 15, evidence: () -> String = { "" }, _ probe: () throws -> Value?
) throws -> Value {
    let deadline = Patience.deadline(seconds)
    while true {
        if let value = try probe() { return value }
        guard MonotonicClock().now() < deadline else {
            throw TestFailure("waited \(Patience.scaled(seconds)) s in vain for \(what). \(evidence())")
        }
        usleep(5_000)
    }
}

/// Waits for a condition in the same way.
package func waitFor(
    _ what: String, within seconds: Double = 15, evidence: () -> String = { "" }, _ condition: () throws -> Bool
) throws {
    let _: Bool = try waitFor(what, within: seconds, evidence: evidence) { try condition() ? true : nil }
}

/// Waits for a condition that a process brings about. Fails at once if the process ends.
package func waitFor(
    _ what: String, while process: ChildProcess, within seconds: Double = 15, evidence: () -> String = { "" },
    _ condition: () throws -> Bool
) throws {
    try waitFor(what, within: seconds, evidence: { process.errorTail + evidence() }) {
        guard process.isRunning else { throw TestFailure("\(process.name) ended. \(process.errorTail)") }
        return try condition()
    }
}

/// Sleeps until a time on the monotonic clock, as a client that plays in real time waits for a sample's turn.
package func pause(until time: MediaTime) {
    while true {
        let rest = (time - MonotonicClock().now()).nanoseconds
        guard rest > 0 else { return }
        usleep(UInt32(min(rest / 1000 + 1, 500_000)))
    }
}
