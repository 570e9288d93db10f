import MediaCore
import Testing

@testable import UpcastClient

/// Promise: the user is told once of a daemon that says nothing any more, and when it is back.
@Suite struct DaemonSilenceTests {
    @Test func silentAndBack() {
        var silence = DaemonSilence(limit: .seconds(5))
        func look(_ word: DaemonSilence.Word?, _ seconds: Int64) -> DaemonSilence.News? {
            silence.look(word, now: .seconds(seconds))
        }
        #expect(look(.counters, 100) == nil)
        #expect(look(.other, 101) == nil)
        #expect(silence.due == .seconds(106))
        #expect(look(nil, 105) == nil)
        let told = look(nil, 106)
        #expect(told == .silent && silence.due == nil)
        #expect(look(nil, 130) == nil, "once")
        let back = look(.counters, 131)
        #expect(back == .back && silence.due == .seconds(136))
    }

    /// Older daemons tell no counters.
    @Test func withoutCounters() {
        var silence = DaemonSilence(limit: .seconds(5))
        let news = silence.look(.other, now: .seconds(100))
        #expect(news == nil && silence.due == nil)
    }

    /// The program was stopped, or the machine slept: nobody knows whether the daemon was silent.
    @Test func whoStoodStillItself() {
        var silence = DaemonSilence(limit: .seconds(5))
        _ = silence.look(.counters, now: .seconds(100))
        let news = silence.look(nil, now: .seconds(200))
        #expect(news == nil && silence.due == .seconds(205))
    }
}
