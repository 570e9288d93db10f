import MediaCore
import Testing

@testable import Adaptation

/// Promise: what is known of a link is not hidden by a measurement that is too low, and ends with the link.
@Suite struct KnownRateTests {
    /// What is known after the link was full at these rates; and which of them were another link's.
    private func known(_ rates: [Double]) -> (rate: KnownRate, others: [Double]) {
        var known = KnownRate()
        var others: [Double] = []
        for rate in rates where !known.noteFull(rate) { others.append(rate) }
        return (known, others)
    }

    @Test func aMeasurementThatIsTooLow() {
        #expect(KnownRate().value == nil)
        var (rate, others) = known([1000, 700])
        #expect(rate.value == 900 && rate.mostWhenFull == 1000 && others.isEmpty)
        (rate, others) = known([1000, 700, 1100])
        #expect(rate.value == 1100 && rate.mostWhenFull == 1100 && others.isEmpty)
    }

    @Test func anotherLink() {
        let (rate, others) = known([1000, 500, 300])
        #expect(others == [500], "from there on, 300 is of the same one")
        #expect(rate.value == 450 && rate.mostWhenFull == 500)
    }

    @Test func whatGoesThrough() {
        var (rate, _) = known([1000])
        rate.noteMore(1200)
        #expect(rate.value == 1200 && rate.mostWhenFull == 1000)
        rate.noteNoLimit()
        #expect(rate.value == nil)
        let isKnown = rate.noteFull(100)
        #expect(isKnown, "the first measurement is of no other link")
    }
}

/// Promise: a keyframe that goes through fast is a sign of a better link, and of less the more of them were wrong.
@Suite struct FastKeyframesTests {
    /// When keyframes count of those that come every two seconds, each tested a second later.
    private func counted(of keyframes: ClosedRange<Int64>, in fast: inout FastKeyframes) -> [Int64] {
        keyframes.map { $0 * 2 }.filter { second in
            defer { fast.noteTested() }
            return fast.note(at: .seconds(second))
        }
    }

    @Test func eachPutsOffTheNext() {
        var fast = FastKeyframes()
        #expect(counted(of: 50...90, in: &fast) == [100, 104, 112, 128, 144, 160, 176])
    }

    @Test func anOldOneIsForgotten() {
        var fast = FastKeyframes()
        _ = counted(of: 50...90, in: &fast)
        #expect(counted(of: 200...206, in: &fast) == [400, 404, 412])
    }

    @Test func theLinkWasBetter() {
        var fast = FastKeyframes()
        _ = counted(of: 50...90, in: &fast)
        fast.noteNoLimit()
        // The pause after the last one ends at 192 s.
        #expect(counted(of: 91...106, in: &fast) == [192, 196, 204])
    }

    @Test func oneAtATime() {
        var fast = FastKeyframes()
        let first = fast.note(at: .seconds(10))
        #expect(first && fast.isUntested)
        let second = fast.note(at: .seconds(100))
        #expect(!second)
        fast.noteTested()
        #expect(!fast.isUntested)
        let third = fast.note(at: .seconds(100))
        #expect(third)
    }
}
