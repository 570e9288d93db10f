import Foundation
import LinuxSystem
import TestLimits
import TestSupport
import Testing

/// Promise: a case that takes longer than its limit fails when it ends. The time before it begins does not count.
@Suite struct OwnTimeLimitTests {
    private func run(_ limit: OwnTimeLimit, _ body: @concurrent @Sendable () async throws -> Void) async throws {
        try await limit.provideScope(
            for: #require(Test.current), testCase: Test.Case.current, performing: body)
    }

    @Test func tooLong() async throws {
        let failures = Monitor<[String]>([])
        let limit = OwnTimeLimit(seconds: 0.01, longest: 3600) { text, _ in failures.withLock { $0.append(text) } }
        try await run(limit) { usleep(50_000) }
        #expect(failures.withLock { $0 } == ["took longer than its limit of 0.01 s"])
    }

    @Test func inTime() async throws {
        try await run(OwnTimeLimit(seconds: 3600)) {}
    }

    @Test func aTestThatHangs() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let limit = OwnTimeLimit(seconds: 0.01, longest: 0.02)
            try limit.watch("aTest", Monitor(false)).join()
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("aTest hangs: it has run for 0.02 s, and may take 0.01 s"), "\(text)")
    }

    @Test func anErrorOfItsOwn() async throws {
        await #expect(throws: TestFailure.self) {
            try await run(OwnTimeLimit(seconds: 3600)) { throw TestFailure("this") }
        }
    }

    /// As suites use it: each case, from its beginning, and after it has waited.
    @Suite(.endsWithin(3600, on: .shared)) struct OnThreadsOfItsOwn {
        @Test(arguments: 0..<2) func eachCase(_: Int) async throws {
            #expect(try Self.threadName == "test-task\n")
            await withCheckedContinuation { continuation in Thread.detachNewThread { continuation.resume() } }
            #expect(try Self.threadName == "test-task\n")
        }

        private static var threadName: String {
            get throws { try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8) }
        }
    }
}
