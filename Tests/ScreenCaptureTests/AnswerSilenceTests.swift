import Grabbing
import MediaCore
import Testing

/// Promise: the user is told once of a display server that leaves a question without an answer.
@Suite struct AnswerSilenceTests {
    @Test func silentAndBack() {
        var silence = AnswerSilence()
        #expect(silence.due == nil)
        silence.ask(now: .seconds(100))
        #expect(silence.due == .seconds(103))
        let early = silence.look(now: .milliseconds(102_900))
        let told = silence.look(now: .seconds(103))
        #expect(!early && told && silence.due == nil)
        let again = silence.look(now: .seconds(130))
        #expect(!again, "once")
        let wasTold = silence.answered()
        #expect(wasTold && silence.due == nil)
    }

    @Test func answersInTimeAreNoNews() {
        var silence = AnswerSilence()
        for second in 0..<10 {
            silence.ask(now: .seconds(Int64(second)))
            let told = silence.look(now: .seconds(Int64(second) + 2))
            let wasTold = silence.answered()
            #expect(!told && !wasTold)
        }
        let idle = silence.look(now: .seconds(100))
        #expect(!idle, "nobody asks")
    }

    /// The program was stopped, or the machine slept: nobody knows whether the server was silent.
    @Test func whoStoodStillItself() {
        var silence = AnswerSilence()
        silence.ask(now: .seconds(100))
        let told = silence.look(now: .seconds(200))
        #expect(!told && silence.due == .seconds(203))
    }
}
