import Testing

@testable import ScreenCapture

/// Promise: pictures wait for windows that nobody knows, but not forever for one that changes all the time.
@Suite struct UnknownWaitTests {
    /// Which of as many pictures in a row wait.
    private func waits(_ isUnknown: [Bool]) -> [Bool] {
        var wait = UnknownWait()
        return isUnknown.map { wait.waits(isUnknown: $0) }
    }

    @Test func aWindowThatChangesAllTheTime() {
        let four = [true, true, true, false]
        #expect(waits(Array(repeating: true, count: 12)) == four + four + four)
    }

    @Test func aKnownPictureStartsTheCountAgain() {
        #expect(waits([true, true, false, true, true, true, true]) == [true, true, false, true, true, true, false])
    }
}
