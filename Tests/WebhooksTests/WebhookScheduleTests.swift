import MediaCore
import SeededRandom
import Testing

@testable import Webhooks

@Suite struct WebhookScheduleTests {
    @Test func delaysDoubleUpToFiveMinutes() throws {
        let schedule = WebhookSchedule(maximumAttempts: 14)
        for (index, full) in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300].enumerated() {
            var random = SplitMix64(seed: UInt64(index))
            var seen: [MediaTime] = []
            for _ in 0..<200 {
                seen.append(try #require(schedule.delay(after: index + 1, asked: nil, using: &random)))
            }
            let (least, most) = (try #require(seen.min()), try #require(seen.max()))
            #expect(least >= .milliseconds(Int64(full) * 500) && most <= .seconds(Int64(full)))
            // Daemons that failed together do not come back together.
            #expect(most - least > .milliseconds(Int64(full) * 400))
        }
        var random = SplitMix64(seed: 1)
        #expect(schedule.delay(after: 14, asked: nil, using: &random) == nil)
        #expect(schedule.delay(after: 14, asked: .seconds(1), using: &random) == nil)
        #expect(WebhookSchedule(maximumAttempts: 1).delay(after: 1, asked: nil, using: &random) == nil)
    }

    @Test func theServerMayAskForMoreTimeWithinFiveMinutes() throws {
        let schedule = WebhookSchedule(maximumAttempts: 20)
        var random = SplitMix64(seed: 2)
        #expect(schedule.delay(after: 1, asked: .seconds(30), using: &random) == .seconds(30))
        #expect(schedule.delay(after: 1, asked: .seconds(86_400), using: &random) == .seconds(300))
        #expect(try #require(schedule.delay(after: 9, asked: .seconds(1), using: &random)) >= .seconds(128))
    }
}
