import ArgumentParser
import CaptureSources
import MediaCore
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
        #expect(!plan.setup(nil).sendsAppAudio && plan.setup(nil).sendsVideo)
        #expect(isTone(try self.plan("--video", video, "--app-audio", "tone").appAudio), "unless it is asked for")
    }

    @Test func rawPicturesHaveNone() throws {
        let plan = try plan("--video", "a.bgra", "--format", "BGRA", "--size", "800x600", "--mic", "a.wav")
        #expect(plan.appAudio == nil)
        #expect(plan.setup(nil).sendsMicrophone && !plan.setup(nil).sendsAppAudio)
    }

    @Test func thePatternMayBeSilent() throws {
        #expect(try plan("--app-audio", "none").appAudio == nil)
    }

    @Test func withNothingToSendItSaysSo() {
        let error = #expect(throws: InputError.self) { try plan("--video", "none") }
        #expect(error?.description.hasPrefix("there is nothing to send") == true, "\(String(describing: error))")
    }

    /// A stream has its own pictures and sound; a microphone may come beside it.
    @Test func aStream() throws {
        let plan = try plan("-", "--mic", "tone", "--audio-offset", "-80")
        #expect(plan.stream == "-" && plan.video == nil && plan.appAudio == nil && isTone(plan.microphone))
        #expect(plan.audioOffset == .milliseconds(-80))
        #expect(try self.plan("film.nut").stream == "film.nut")
    }

    @Test(arguments: [
        (["-", "--video", "a.y4m"], "leave out --video"), (["-", "--rate", "30"], "leave out --rate"),
        (["a.nut", "--app-audio", "tone"], "leave out --app-audio"), (["-", "--mic", "-"], "standard input"),
        (["--audio-offset", "1001"], "--audio-offset 1001"),
        (["--socket", ""], "--socket is empty: name the capture socket"), (["--name", ""], "--name is empty"),
        (["--video", ""], "--video is empty"), (["--mic", ""], "--mic is empty"), ([""], "the stream is empty"),
        (["--seconds", "0"], "--seconds 0 is no duration"), (["--seconds", "-1"], "--seconds -1 is no duration"),
    ])
    func whatDoesNotGoTogether(arguments: [String], sentence: String) {
        let error = #expect(throws: InputError.self) { try SessionPlan(UpcastSend.parse(arguments)) }
        #expect(error?.description.contains(sentence) == true, "\(String(describing: error))")
    }
}
