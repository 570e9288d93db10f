import MediaCore
import Testing

@testable import upcast_screen

/// Promise: a picture that was refused does not leave the curtain up over a still screen.
@Suite struct RefusedPictureTests {
    @Test func itIsSentAgainUntilViewersSeeIt() {
        var picture = RefusedPicture()
        func due(_ milliseconds: Int64) -> Bool { picture.isDue(at: .milliseconds(milliseconds)) }
        #expect(due(9_000) == false)
        _ = picture.noteRefusal("no sound", raisesCurtain: false, at: .seconds(9))
        #expect(picture.due == nil)
        _ = picture.noteRefusal("no regions", raisesCurtain: true, at: .seconds(10))
        #expect(picture.due == .seconds(12))
        let times = [11_999, 12_000, 13_999, 14_500] as [Int64]
        #expect(times.map(due) == [false, true, false, true])
        picture.noteShown()
        #expect(picture.due == nil)
        #expect(due(100_000) == false)
    }

    /// Each picture of a moving screen is refused: the deadline stays, and the user reads it once.
    @Test func repetitionsAreToldOnce() {
        var picture = RefusedPicture()
        let news = ["no regions", "no regions", "another"].map {
            picture.noteRefusal($0, raisesCurtain: true, at: .seconds(10))
        }
        #expect(news == [true, false, true])
        _ = picture.noteRefusal("another", raisesCurtain: true, at: .seconds(11))
        #expect(picture.due == .seconds(12))
        picture.noteShown()
        let isNewsAgain = picture.noteRefusal("another", raisesCurtain: true, at: .seconds(20))
        #expect(isNewsAgain)
    }
}
