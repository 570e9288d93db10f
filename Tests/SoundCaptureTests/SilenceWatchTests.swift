import MediaCore
import SoundCapture
import Testing

/// Promise: a stream that the server has cut off is found, and no other one.
@Suite struct SilenceWatchTests {
    private static func watch() -> SilenceWatch {
        var watch = SilenceWatch()
        watch.noteSamples()
        return watch
    }

    /// The server also reports changes of a stream that begins.
    @Test func changesOfANewStream() {
        var watch = SilenceWatch()
        watch.noteChange(now: .zero)
        watch.noteSamples()
        #expect(watch.due == nil)
        watch.noteChange(now: .seconds(3))
        #expect(watch.due == .seconds(4))
    }

    @Test func onlyZerosAfterAChange() {
        var watch = Self.watch()
        #expect(watch.due == nil && !watch.isCutOff(now: .seconds(100)))
        watch.noteChange(now: .seconds(5))
        // Sound from before the change.
        watch.noteSound(now: .milliseconds(5_299))
        #expect(watch.isWatching && watch.due == .seconds(6))
        #expect(!watch.isCutOff(now: .milliseconds(5_999)) && watch.isCutOff(now: .seconds(6)))
    }

    /// A program that changes the volume all the time.
    @Test func manyChanges() {
        var watch = Self.watch()
        for tenth in 50..<60 as Range<Int64> { watch.noteChange(now: .milliseconds(tenth * 100)) }
        #expect(watch.due == .seconds(6), "silence is not prolonged")
        watch.noteSound(now: .milliseconds(5_900))
        #expect(watch.due == .milliseconds(6_900), "only the last change has no sound after it")
        watch.noteSound(now: .milliseconds(6_200))
        #expect(!watch.isCutOff(now: .seconds(7)))
    }

    @Test func soundAfterAChange() {
        var watch = Self.watch()
        watch.noteChange(now: .seconds(5))
        watch.noteSound(now: .milliseconds(5_300))
        #expect(!watch.isWatching && !watch.isCutOff(now: .seconds(60)))
    }

    /// A silent sink does not get a new stream each second.
    @Test func aSilentSink() {
        var watch = SilenceWatch()
        var patience: [MediaTime?] = []
        for second in 1..<8 as Range<Int64> {
            watch.noteSamples()
            watch.noteChange(now: .seconds(second * 100))
            patience.append(watch.due.map { $0 - .seconds(second * 100) })
            watch = watch.next
        }
        #expect(patience == [1, 2, 4, 8, 16, 16, 16].map(MediaTime.seconds))
        watch.noteSound(now: .seconds(1000))
        var next = watch.next
        next.noteSamples()
        next.noteChange(now: .seconds(1))
        #expect(next.due == .seconds(2))
    }
}
