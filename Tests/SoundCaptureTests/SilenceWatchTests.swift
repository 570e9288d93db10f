import SoundCapture
import Testing

/// Promise: a stream that is silent since a change is found, and no stream with sound.
@Suite struct SilenceWatchTests {
    /// Takes 100 bytes a second, and one second of sound.
    private static func watch() -> SilenceWatch {
        var watch = SilenceWatch(bytesPerSecond: 100)
        watch.note(100, at: 0, hasSound: true)
        return watch
    }

    /// The server also reports changes of a stream that begins.
    @Test func changesOfANewStream() {
        var watch = SilenceWatch(bytesPerSecond: 100)
        watch.noteChange(at: 0)
        watch.note(29, at: 0, hasSound: false)
        watch.noteChange(at: 29)
        watch.note(971, at: 29, hasSound: false)
        #expect(!watch.isWatching && !watch.isCutOff)
        watch.noteChange(at: 1000)
        #expect(watch.isWatching && !watch.isCutOff)
    }

    @Test func onlyZerosAfterAChange() {
        var watch = Self.watch()
        #expect(!watch.isWatching && !watch.isCutOff)
        watch.noteChange(at: 100)
        // Sound from before the change.
        watch.note(5, at: 129, hasSound: true)
        #expect(watch.isWatching)
        watch.note(65, at: 134, hasSound: false)
        #expect(!watch.isCutOff)
        watch.note(1, at: 199, hasSound: false)
        #expect(watch.isCutOff)
    }

    /// A program that changes the volume all the time.
    @Test func manyChanges() {
        var watch = Self.watch()
        for position in stride(from: 100 as Int64, to: 200, by: 10) {
            watch.noteChange(at: position)
            watch.note(10, at: position, hasSound: false)
        }
        #expect(watch.isCutOff, "silence is not prolonged")
        watch.note(10, at: 200, hasSound: true)
        #expect(!watch.isCutOff && watch.isWatching, "only the last change has no sound after it")
        watch.note(10, at: 220, hasSound: true)
        #expect(!watch.isWatching)
    }

    @Test func soundAfterAChange() {
        var watch = Self.watch()
        watch.noteChange(at: 100)
        watch.note(5, at: 130, hasSound: true)
        watch.note(1000, at: 135, hasSound: false)
        #expect(!watch.isWatching && !watch.isCutOff)
    }
}
