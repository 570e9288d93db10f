import ArgumentParser
import CaptureSources
import Testing
import UpcastClient

@testable import upcast_send

/// What is sent when the command line leaves it open.
@Suite struct SessionPlanTests {
    private func plan(_ arguments: String...) throws -> SessionPlan { try SessionPlan(UpcastSend.parse(arguments)) }

    private func isTone(_ audio: SessionPlan.Audio?) -> Bool { if case .tone? = audio { true } else { false } }

    @Test func thePatternHasATone() throws {
        for plan in [try plan(), try plan("--video", "pattern"), try plan("--size", "320x180")] {
            #expect(isTone(plan.appAudio))
            #expect(plan.microphone == nil)
        }
    }

    /// Over a film, or over nothing, nobody wants one.
    @Test(arguments: ["-", "film.y4m"]) func aFilmHasNone(video: String) throws {
        let plan = try plan("--video", video)
        #expect(plan.appAudio == nil && plan.microphone == nil)
        #expect(!plan.setup.sendsAppAudio && plan.setup.sendsVideo)
        #expect(isTone(try self.plan("--video", video, "--app-audio", "tone").appAudio), "unless it is asked for")
    }

    @Test func rawPicturesHaveNone() throws {
        let plan = try plan("--video", "a.bgra", "--format", "BGRA", "--size", "800x600", "--mic", "a.wav")
        #expect(plan.appAudio == nil)
        #expect(plan.setup.sendsMicrophone && !plan.setup.sendsAppAudio)
    }

    @Test func thePatternMayBeSilent() throws {
        #expect(try plan("--app-audio", "none").appAudio == nil)
    }

    @Test func withNothingToSendItSaysSo() {
        let error = #expect(throws: InputError.self) { try plan("--video", "none") }
        #expect(error?.description.hasPrefix("there is nothing to send") == true, "\(String(describing: error))")
    }
}
