import Logging
import MediaCore
import Testing

@testable import upcastd

/// Promise: a fault that comes again and again does not fill the log, and none of it is kept secret.
@Suite struct RepeatLimitTests {
    private let cause = RepeatLimit.Cause(of: "it failed", destination: "main")

    @Test func twentyInTenSeconds() {
        var limit = RepeatLimit()
        let begin = MediaTime.seconds(100)
        let admitted = (0..<50).filter { limit.admits(cause, .warning, at: begin + .milliseconds(Int64($0) * 100)) }
        #expect(admitted == Array(0..<20))
        let omitted = [9_999, 10_000, 20_000].map { limit.takeOmitted(at: begin + .milliseconds($0)) }
        #expect(omitted == [[], [.init(cause: cause, level: .warning, count: 30)], []], "told once")
        let isAdmitted = limit.admits(cause, .warning, at: begin + .seconds(20))
        #expect(isAdmitted)
    }

    /// Once in a second is no flood.
    @Test func slowRepetition() {
        var limit = RepeatLimit()
        for second in 0..<100 {
            let now = MediaTime.seconds(Int64(second))
            let (omitted, isAdmitted) = (limit.takeOmitted(at: now), limit.admits(cause, .error, at: now))
            #expect(omitted.isEmpty && isAdmitted)
        }
    }

    @Test func othersAreNotAffected() {
        var limit = RepeatLimit()
        let other = RepeatLimit.Cause(of: cause.of, destination: "backup")
        for _ in 0..<100 { _ = limit.admits(cause, .error, at: .zero) }
        let isAdmitted = limit.admits(other, .error, at: .zero)
        #expect(isAdmitted, "another destination's fault is another cause")
    }

    @Test func whoAsksForDetailsGetsThem() {
        var limit = RepeatLimit()
        let admitted = (0..<1000).filter { _ in limit.admits(cause, .debug, at: .zero) }
        #expect(admitted.count == 1000)
    }

    /// Messages may hold what a client sent: neither the log nor the memory grows with them.
    @Test func manyCauses() {
        var limit = RepeatLimit()
        let admitted = (0..<10_000).filter {
            limit.admits(.init(of: "message \($0)", destination: nil), .info, at: .zero)
        }
        #expect(admitted.count == RepeatLimit.mostCauses + RepeatLimit.mostLines)
        let omitted = limit.takeOmitted(at: .seconds(10))
        #expect(omitted.map(\.count) == [10_000 - admitted.count])
        #expect(omitted.first?.cause.of == "other messages")
    }
}
