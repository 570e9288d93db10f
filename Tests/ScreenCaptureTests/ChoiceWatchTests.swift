import Testing

@testable import ScreenCapture

/// Promise: a manager of mutter's family is asked while something is secret. Before that, it is asked until it answers,
/// or has refused three times.
@Suite struct ChoiceWatchTests {
    @Test func onlyMutterIsAsked() {
        let watch = ChoiceWatch()
        #expect(!watch.mustAsk(isOfMutter: false, hasSecure: true))
        #expect(watch.mustAsk(isOfMutter: true, hasSecure: false))
        #expect(!watch.cannotAsk)
    }

    @Test func anAnswerEndsTheFirstQuestions() {
        var watch = ChoiceWatch()
        watch.note(hasFocus: false, showsOverview: false)
        #expect(!watch.mustAsk(isOfMutter: true, hasSecure: false))
        #expect(watch.mustAsk(isOfMutter: true, hasSecure: true))
        #expect(!watch.asksAgain && !watch.showsChoice)
    }

    @Test func threeRefusalsInARowMeanThatItCannotBeAsked() {
        var watch = ChoiceWatch()
        for _ in 0..<2 {
            watch.note(hasFocus: false, showsOverview: nil)
            #expect(!watch.cannotAsk && watch.asksAgain)
        }
        // The keyboard says nothing about the question.
        watch.note(hasFocus: true, showsOverview: nil)
        #expect(!watch.cannotAsk && watch.showsChoice)
        watch.note(hasFocus: false, showsOverview: nil)
        #expect(watch.cannotAsk && !watch.asksAgain && !watch.showsChoice)
        #expect(!watch.mustAsk(isOfMutter: true, hasSecure: false))
        #expect(watch.mustAsk(isOfMutter: true, hasSecure: true))
        // The Shell has begun.
        watch.note(hasFocus: false, showsOverview: false)
        #expect(!watch.cannotAsk)
        for _ in 0..<2 { watch.note(hasFocus: false, showsOverview: nil) }
        #expect(!watch.cannotAsk)
    }

    @Test func whatIsVisibleIsAskedForAgain() {
        var watch = ChoiceWatch()
        watch.note(hasFocus: false, showsOverview: true)
        #expect(watch.showsChoice && watch.asksAgain)
        watch.forgetAnswer()
        #expect(!watch.showsChoice && !watch.asksAgain)
    }
}
