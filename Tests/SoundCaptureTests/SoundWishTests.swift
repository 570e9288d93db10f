import MediaCore
import SoundCapture
import Testing

/// Promise: what is recorded is what was asked for; nothing ever stands in for it.
@Suite struct SoundWishTests {
    private static let facts: SoundFacts = {
        var facts = SoundFacts()
        facts.defaultSink = "speakers"
        facts.defaultSource = "webcam"
        facts.sinks = [.init(index: 1, name: "speakers"), .init(index: 2, name: "headset")]
        facts.sources = [
            .init(index: 10, name: "speakers.monitor", monitorOf: 1),
            .init(index: 11, name: "headset.monitor", monitorOf: 2), .init(index: 12, name: "webcam"),
        ]
        facts.playbacks = [
            .init(index: 70, sink: 2, application: "Firefox", binary: "firefox-esr"),
            .init(index: 71, sink: 1, application: "Firefox", binary: "firefox-esr"),
            .init(index: 72, sink: 1, application: "mpv", binary: "mpv"),
        ]
        return facts
    }()

    @Test(
        arguments: [
            ("default", [SoundTarget(source: "speakers.monitor", index: 10)]),
            ("headset", [SoundTarget(source: "headset.monitor", index: 11)]),
            ("none", []),
            (
                "app=firefox",
                [
                    SoundTarget(source: "headset.monitor", index: 11, playback: 70),
                    SoundTarget(source: "speakers.monitor", index: 10, playback: 71),
                ]
            ),
            ("app=MPV", [SoundTarget(source: "speakers.monitor", index: 10, playback: 72)]),
            ("app=firefox-esr", [
                SoundTarget(source: "headset.monitor", index: 11, playback: 70),
                SoundTarget(source: "speakers.monitor", index: 10, playback: 71),
            ]),
        ])
    func sound(text: String, targets: [SoundTarget]) {
        #expect(Self.facts.answer(SoundWish(sound: text)) == .record(targets))
    }

    @Test(
        arguments: [
            ("line-out", "there is no sink line-out; the sinks are speakers, headset"),
            ("app=vlc", "no program vlc plays sound; these do: Firefox, mpv"),
            ("app=fire", "no program fire plays sound; these do: Firefox, mpv"),
        ])
    func missingSound(text: String, sentence: String) {
        #expect(Self.facts.answer(SoundWish(sound: text)) == .missing(sentence))
    }

    @Test func theMicrophone() {
        let target = SoundAnswer.record([SoundTarget(source: "webcam", index: 12)])
        #expect(Self.facts.answer(SoundWish(microphone: "default")) == target)
        #expect(Self.facts.answer(SoundWish(microphone: "webcam")) == target)
        #expect(
            Self.facts.answer(SoundWish(microphone: "usb")) == .missing(
                "there is no source usb; the microphones are webcam"))
    }

    /// A machine without a microphone has a monitor as its default source.
    @Test func aMonitorIsNoDefaultMicrophone() {
        var facts = Self.facts
        facts.defaultSource = "speakers.monitor"
        facts.sources.removeLast()
        #expect(
            facts.answer(.defaultMicrophone) == .missing(
                "the default source is no microphone; the server has no microphones"))
    }

    /// A monitor has the sound before it is heard, but PipeWire's has not, and a microphone cannot.
    @Test func latencies() {
        func latency(_ wish: SoundWish, _ facts: SoundFacts) -> MediaTime? {
            guard case .record(let targets) = facts.answer(wish), let target = targets.first else { return nil }
            return facts.wantedLatency(of: target)
        }
        var pipeWire = Self.facts
        pipeWire.serverName = "PulseAudio (on PipeWire 0.3.65)"
        #expect(latency(.defaultSink, Self.facts) == .milliseconds(80))
        #expect(latency(.application("mpv"), Self.facts) == .milliseconds(80))
        #expect(latency(.defaultMicrophone, Self.facts) == .milliseconds(40))
        #expect(latency(.defaultSink, pipeWire) == .milliseconds(40))
    }
}
