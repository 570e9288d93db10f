import MediaCore
import Testing

@testable import Adaptation

/// Promise: a break counts as a stall that stands alone, unless breaks are what the link is like.
@Suite struct BriefStallsTests {
    /// Whether a break that ends at this second stands alone.
    private func isAlone(_ second: Double, in stalls: inout BriefStalls) -> Bool {
        stalls.endBreak(at: MediaTime(seconds: second))
    }

    @Test func alone() {
        var stalls = BriefStalls()
        let first = isAlone(1, in: &stalls)
        #expect(first, "the first one")
        stalls.noteCalm()
        let second = isAlone(3, in: &stalls)
        #expect(second, "two seconds later")
    }

    @Test func soonAfterTheLast() {
        var stalls = BriefStalls()
        _ = isAlone(1, in: &stalls)
        for second in [2.9, 4.8, 6.7] {
            stalls.noteCalm()
            let isAlone = isAlone(second, in: &stalls)
            #expect(!isAlone, "\(second) s: a break soon after the last one, whatever that one was")
        }
        stalls.noteCalm()
        let last = isAlone(8.7, in: &stalls)
        #expect(last)
    }

    @Test func packetsAreLateSince() {
        var stalls = BriefStalls()
        _ = isAlone(1, in: &stalls)
        let second = isAlone(60, in: &stalls)
        #expect(!second)
        stalls.noteCalm()
        let third = isAlone(63, in: &stalls)
        #expect(third)
    }

    @Test(arguments: [false, true]) func packetsWereShed(isInBreak: Bool) {
        var stalls = BriefStalls()
        stalls.noteShed(isInBreak: isInBreak)
        let first = isAlone(1, in: &stalls)
        #expect(first, "before the first break, and in it, nothing is known yet")
        if !isInBreak { stalls.noteShed(isInBreak: false) }
        stalls.noteCalm()
        let soon = isAlone(8.9, in: &stalls)
        #expect(!soon)
        stalls.noteCalm()
        let later = isAlone(12, in: &stalls)
        #expect(later, "the packets were shed before the last break")
    }

    @Test func whatWasShedIsForgotten() {
        var stalls = BriefStalls()
        stalls.noteShed(isInBreak: true)
        _ = isAlone(1, in: &stalls)
        stalls.noteCalm()
        let later = isAlone(9, in: &stalls)
        #expect(later)
    }
}
