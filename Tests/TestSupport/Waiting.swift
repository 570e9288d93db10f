import Foundation
import LinuxSystem
package import MediaCore

/// Something did not happen within its deadline, or happened wrongly; the text says what was seen instead.
package struct TestFailure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// How long tests wait for what must come. Every deadline of `TestSupport` is made here.
package enum Patience {
    /// Sanitizers slow everything that is waited for; `scripts/test --sanitize` says so in the environment.
    package static let factor: Double = isSanitized ? 4 : 1

    package static let isSanitized = ProcessInfo.processInfo.environment["UPCAST_SANITIZER"] != nil

    /// What `seconds` on a machine at its usual speed are on this one.
    package static func scaled(_ seconds: Double) -> Double { seconds * factor }

    /// When a wait of `seconds` that begins now is over.
    package static func deadline(_ seconds: Double) -> MediaTime {
        MonotonicClock().now() + .milliseconds(Int64(scaled(seconds) * 1000))
    }
}

/// Looks at `probe` every few milliseconds until it returns a value; throws with `what` and `evidence` at the deadline.
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

/// The same for a condition.
package func waitFor(
    _ what: String, within seconds: Double = 15, evidence: () -> String = { "" }, _ condition: () throws -> Bool
) throws {
    let _: Bool = try waitFor(what, within: seconds, evidence: evidence) { try condition() ? true : nil }
}

/// The same for a condition that a process brings about: fails at once if the process ends.
package func waitFor(
    _ what: String, while process: ChildProcess, within seconds: Double = 15, evidence: () -> String = { "" },
    _ condition: () throws -> Bool
) throws {
    try waitFor(what, within: seconds, evidence: { process.errorTail + evidence() }) {
        guard process.isRunning else { throw TestFailure("\(process.name) ended. \(process.errorTail)") }
        return try condition()
    }
}

/// Sleeps until a point on the monotonic clock: how a client that plays in real time waits for a sample's turn.
package func pause(until time: MediaTime) {
    while true {
        let rest = (time - MonotonicClock().now()).nanoseconds
        guard rest > 0 else { return }
        usleep(UInt32(min(rest / 1000 + 1, 500_000)))
    }
}
