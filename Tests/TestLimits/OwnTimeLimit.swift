// A static release build has no Swift Testing, and builds every target.
#if canImport(Testing)
package import LinuxSystem
import MediaCore
package import TestSupport
package import Testing

extension Trait where Self == OwnTimeLimit {
    /// The time that each case of a test may take: in seconds, on a machine of usual speed.
    ///
    /// - Parameter executor: runs an asynchronous test. Without it, waits for a thread of the cooperative pool count.
    package static func endsWithin(_ seconds: Double, on executor: OwnThreads? = nil) -> Self {
        OwnTimeLimit(seconds: Patience.scaled(seconds), executor: executor)
    }
}

/// A limit for the time that one case of a test takes by itself.
///
/// The runner's `timeLimit` also counts how long a case waits for a thread behind all others. That depends on the order
/// of the tests, which each run draws anew.
///
/// A test that takes longer fails when it ends. If it has not ended after `longest` seconds, the process ends with the
/// test's name, so that the run does not hang. It is not cancelled: Swift Testing reports that as a misuse.
package struct OwnTimeLimit: SuiteTrait, TestTrait, TestScoping {
    private let seconds: Double
    private let longest: Double
    private let executor: OwnThreads?
    /// Counts the test as failed.
    private let fail: @Sendable (String, SourceLocation) -> Void

    package init(
        seconds: Double, longest: Double? = nil, executor: OwnThreads? = nil,
        fail: @escaping @Sendable (String, SourceLocation) -> Void = { Issue.record("\($0)", sourceLocation: $1) }
    ) {
        (self.seconds, self.longest, self.executor, self.fail) = (seconds, longest ?? 5 * seconds, executor, fail)
    }

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @concurrent @Sendable () async throws -> Void
    ) async throws {
        precondition(testCase != nil, "a limit is for cases")
        try await withTaskExecutorPreference(executor) {
            let begin = MonotonicClock().now()
            let hasEnded = Monitor(false)
            let watch = try watch(test.name, hasEnded)
            defer {
                hasEnded.signal { $0 = true }
                watch.join()
                if MonotonicClock().now() - begin > .milliseconds(Int64(seconds * 1000)) {
                    fail("took longer than its limit of \(seconds) s", test.sourceLocation)
                }
            }
            try await body()
        }
    }

    /// Ends the process after the longest time, unless the test has ended by then.
    package func watch(_ name: String, _ hasEnded: Monitor<Bool>) throws -> WorkerThread {
        let (limit, longest) = (seconds, longest)
        let deadline = MonotonicClock().now() + .milliseconds(Int64(longest * 1000))
        return try WorkerThread(name: "test-limit") {
            guard hasEnded.wait(until: deadline, { $0 ? true : nil }) == nil else { return }
            fatalError("\(name) hangs: it has run for \(longest) s, and may take \(limit) s")
        }
    }
}
#endif
