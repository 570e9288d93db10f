import MediaCore
import Testing

@testable import UpcastClient

/// Promise: a program that ends waits for a daemon that says something, and not for one that stands still.
@Suite struct EndingPatienceTests {
    private static func patience(hasBegun: Bool) -> EndingPatience {
        var patience = EndingPatience()
        patience.hasBegun = hasBegun
        return patience
    }

    @Test func aProgramThatDoesNotEnd() {
        let patience = Self.patience(hasBegun: true)
        #expect(!patience.isEnding && !patience.isOver(now: .seconds(1000), heard: .zero))
    }

    @Test func aSilentDaemon() {
        var patience = Self.patience(hasBegun: true)
        patience.end(now: .seconds(100))
        // Not begun anew by whoever ends it once more.
        patience.end(now: .seconds(101))
        #expect(patience.isEnding && !patience.isSignalled)
        #expect(!patience.isOver(now: .milliseconds(101_999), heard: .seconds(99)))
        #expect(patience.isOver(now: .seconds(102), heard: .seconds(99)))
    }

    @Test func aDaemonThatSendsOutWhatItHas() {
        var patience = Self.patience(hasBegun: true)
        patience.end(now: .seconds(100))
        for second in 101..<130 as Range<Int64> {
            #expect(!patience.isOver(now: .milliseconds(second * 1000 + 999), heard: .seconds(second)))
        }
        #expect(patience.isOver(now: .seconds(131), heard: .seconds(129)))
    }

    /// A signal to a process and one to its group are one; the next ends the program.
    @Test func signals() {
        var patience = Self.patience(hasBegun: true)
        let ends = [100_000, 100_199, 100_200].map { patience.signalled(now: .milliseconds($0)) }
        #expect(patience.isEnding && patience.isSignalled && ends == [false, false, true])
    }

    @Test func aDaemonThatHasNotAnswered() {
        var patience = Self.patience(hasBegun: false)
        patience.end(now: .seconds(100))
        #expect(patience.isOver(now: .seconds(100), heard: .seconds(100)))
    }
}
