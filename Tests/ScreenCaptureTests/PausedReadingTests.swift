import MediaCore
import Testing

@testable import ScreenCapture

/// Promise: windows that nobody knows are read in a pause, too, but a slow X server has time for others.
@Suite struct PausedReadingTests {
    private func at(_ milliseconds: Int64) -> MediaTime { .milliseconds(milliseconds) }

    @Test(arguments: [true, false], [true, false]) func onlyInAPauseAndOnlyIfNeeded(isPaused: Bool, hasUnread: Bool) {
        let due = PausedReading().due(isPaused: isPaused, hasUnread: hasUnread)
        #expect((due != nil) == (isPaused && hasUnread))
    }

    @Test func atMostOnceASecond() throws {
        var reading = PausedReading()
        #expect(try #require(reading.due(isPaused: true, hasUnread: true)) <= at(0))
        reading.noteRead(at: at(5000))
        #expect(reading.due(isPaused: true, hasUnread: true) == at(6000))
        // The next pause may begin at once. Its first reading waits for the rest of the second.
        #expect(reading.due(isPaused: false, hasUnread: true) == nil)
        #expect(reading.due(isPaused: true, hasUnread: true) == at(6000))
    }
}
