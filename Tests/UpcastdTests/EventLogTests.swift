import Control
import LinuxSystem
import Logging
import MediaCore
import Testing

@testable import upcastd

/// Promise: what somebody makes happen without end does not push out what an operator has to see.
@Suite struct EventLogTests {
    private final class HandClock: TimeSource {
        private let time = Monitor(MediaTime.seconds(1))
        func now() -> MediaTime { time.withLock { $0 } }
        func turn(_ span: MediaTime) { time.withLock { $0 += span } }
    }

    @Test func anAppEmptiesNoJournal() {
        let (journal, clock) = (EventJournal(), HandClock())
        let events = EventLog(journal, clock: clock)
        let logger = Logger(label: "test") { _ in events }
        logger.warning("protection turned off", metadata: ["protection": "curtain"])
        // Three seconds, as fast as the control server answers.
        for _ in 0..<2_500 {
            logger.notice("curtain raised", metadata: ["holder": "app:x"])
            logger.notice("curtain lowered", metadata: ["holder": "app:x"])
            clock.turn(.microseconds(1_200))
        }
        func names() -> [String] { journal.events(after: 0).map(\.name) }
        #expect(names().first == "protection_turned_off")
        #expect(names().count == 1 + 2 * RepeatLimit.mostLines)
        clock.turn(RepeatLimit.window)
        events.tellOmitted()
        let told = journal.events(after: 0).suffix(2).map { String(decoding: $0.json, as: UTF8.self) }
        #expect(told.allSatisfy { $0.contains("more of the same were left out") && $0.contains("\"count\":\"2480\"") })

        // And if it goes on for ten minutes.
        for _ in 0..<600 {
            for _ in 0..<30 {
                logger.notice("curtain raised", metadata: ["holder": "app:x"])
                logger.notice("curtain lowered", metadata: ["holder": "app:x"])
            }
            clock.turn(.seconds(1))
        }
        #expect(names().count == EventJournal.capacity)
        #expect(names().first == "protection_turned_off")
        let ids = journal.events(after: 0).map(\.id)
        #expect(ids == ids.sorted())
    }
}
