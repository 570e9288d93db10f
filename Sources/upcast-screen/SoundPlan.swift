import SoundCapture
import UpcastClient

/// Which sound is sent, as the command line says it.
struct SoundPlan: Sendable {
    struct Track: Sendable {
        var source: CaptureAudioSource
        var wish: SoundWish
        var format: CaptureAudioFormat

        var channels: Int { format.channels }
        var name: String { source == .app ? "app audio" : "microphone" }
    }

    var tracks: [Track] = []
    /// The user has not asked for sound: without a sound server, broadcasts have none.
    var isOptional: Bool
    var isQuiet: Bool

    /// - Parameters:
    ///   - sound: `auto`, `default`, `none`, `app=NAME`, or a sink.
    ///   - microphone: `default`, `none`, or a source.
    init(sound: String, microphone: String, isQuiet: Bool) throws(ScreenPlan.Mistake) {
        guard sound != "app=" else {
            throw ScreenPlan.Mistake(description: "--sound \(sound) names nothing; one is --sound app=firefox")
        }
        isOptional = sound == "auto" && microphone == "none"
        self.isQuiet = isQuiet
        try add(.app, sound == "auto" ? .defaultSink : SoundWish(sound: sound), channels: 2)
        try add(.microphone, SoundWish(microphone: microphone), channels: 1)
    }

    private mutating func add(
        _ source: CaptureAudioSource, _ wish: SoundWish, channels: Int
    ) throws(ScreenPlan.Mistake) {
        guard wish != .none else { return }
        do {
            let format = try CaptureAudioFormat(sampleRate: 48_000, channels: channels, type: .int16)
            tracks.append(Track(source: source, wish: wish, format: format))
        } catch {
            throw ScreenPlan.Mistake(description: error.message)
        }
    }

    /// What is missing at the start, and does not come by itself; nil for nothing.
    func mistake(_ facts: SoundFacts) -> String? {
        for track in tracks {
            if case .application = track.wish { continue }
            if case .missing(let text) = facts.answer(track.wish) { return "no \(track.name): \(text)" }
        }
        return nil
    }
}
