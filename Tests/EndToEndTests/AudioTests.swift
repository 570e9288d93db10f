import Foundation
import IngestProtocol
import MediaCore
import TestSupport
import Testing

/// Promise: what the app and the microphone sound like is what viewers hear, at the right level, pitch and moment.
@Suite struct AudioTests {
    // What the two tracks of ReplayKit look like: app sound is big-endian stereo, the microphone little-endian mono.
    private let appFormat = AudioFormat(sampleRate: 44_100, channels: 2, encoding: .int16, isBigEndian: true)
    private let micFormat = AudioFormat(sampleRate: 48_000, channels: 1, encoding: .int16)
    private let appTone = Tone(frequency: 440, amplitude: 0.25)
    private let micTone = Tone(frequency: 1000, amplitude: 0.125)
    private let picture = NumberedPictures.landscape(1)

    /// The recorded sound of a timetable that plays over a still picture, checked for gaps in its timestamps.
    private func record(
        _ timetable: [(at: MediaTime, action: Playback.Action)], length: MediaTime,
        settings: DaemonSettings = .patient, lateness: inout MediaTime
    ) throws -> DecodedAudio {
        let stage = try Stage(settings)
        let playback = try stage.live(showing: picture)
        var timetable = timetable
        timetable.show(picture, from: .zero, to: length)
        try playback.play(timetable)
        lateness = playback.lateness
        try playback.client.finish()
        #expect(playback.client.errors.map(\.text) == [])
        let recording = try stage.server.finishedRecording()
        try stage.checkRecording(recording)
        let audio = try DecodedAudio(recording)
        // AAC frames are 1024 samples; FLV rounds their times to milliseconds.
        let times = try MediaProbe.packets(recording).filter { $0.track == "audio" }.map(\.pts)
        let frame = 1024 / Double(audio.sampleRate)
        for (before, after) in zip(times, times.dropFirst()) where abs(after - before - frame) > 0.0021 {
            Issue.record("audio jumps from \(before) to \(after) s")
        }
        try stage.end()
        return audio
    }

    private func record(_ timetable: [(at: MediaTime, action: Playback.Action)], length: MediaTime) throws
        -> DecodedAudio
    {
        var lateness = MediaTime.zero
        return try record(timetable, length: length, lateness: &lateness)
    }

    /// When the tone at `frequency` is heard: the levels of consecutive windows of 50 ms.
    private func levels(_ audio: DecodedAudio, _ frequency: Double) -> [(time: Double, level: Double)] {
        stride(from: audio.start, to: audio.start + audio.duration - 0.05, by: 0.05).map { time in
            let window = audio.samples(channel: 0, from: time, to: time + 0.05)
            return (time, ToneAnalysis.level(of: frequency, in: window, sampleRate: audio.sampleRate))
        }
    }

    /// A byte-swap that is missing or done twice would turn the tones into noise.
    @Test(.inItsTurn) func bothTonesArriveAtTheirLevelAndPitch() async throws {
        try await blocking {
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            timetable.sound(.app, appTone, format: appFormat, from: .zero, to: .seconds(4))
            timetable.sound(.microphone, micTone, format: micFormat, from: .zero, to: .seconds(4))
            let audio = try record(timetable, length: .seconds(4))
            #expect(audio.sampleRate == 48_000)
            #expect(audio.channels.count == 2)
            let end = audio.start + audio.duration
            for channel in 0..<2 {
                let middle = audio.samples(channel: channel, from: end - 3, to: end - 1)
                let app = ToneAnalysis.level(of: 440, in: middle, sampleRate: 48_000)
                let mic = ToneAnalysis.level(of: 1000, in: middle, sampleRate: 48_000)
                #expect(abs(app - appTone.decibels) < 0.5, "440 Hz at \(app) dBFS in channel \(channel)")
                #expect(abs(mic - micTone.decibels) < 0.5, "1000 Hz at \(mic) dBFS in channel \(channel)")
                #expect(abs(ToneAnalysis.pitch(in: middle, sampleRate: 48_000, range: 420...460) - 440) <= 1)
                #expect(abs(ToneAnalysis.pitch(in: middle, sampleRate: 48_000, range: 980...1020) - 1000) <= 1)
                // Nothing else is in there: both tones together make up the whole level.
                let both = 10 * log10(pow(10, app / 10) + pow(10, mic / 10))
                #expect(abs(ToneAnalysis.rms(middle) - both) < 0.2)
            }
        }
    }

    /// The app is silent throughout and the microphone comes two seconds late: there is an audio track from the start,
    /// silence first.
    @Test(.inItsTurn) func missingAndLateSourcesAreSilence() async throws {
        try await blocking {
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            timetable.sound(.microphone, micTone, format: micFormat, from: .seconds(2), to: .seconds(4))
            let audio = try record(timetable, length: .seconds(4))
            let heard = levels(audio, 1000)
            guard let first = heard.firstIndex(where: { $0.level > micTone.decibels - 3 }) else {
                Issue.record("the microphone was never heard")
                return
            }
            #expect(heard[first].time - audio.start > 1.9)
            let before = audio.samples(channel: 0, from: audio.start, to: heard[first].time - 0.1)
            #expect(ToneAnalysis.rms(before) < -70)
            // The tone begins somewhere inside the first window.
            let gaps = heard[(first + 1)...].dropLast(6).filter { abs($0.level - micTone.decibels) > 1.5 }
            #expect(gaps.isEmpty, "heard from \(heard[first].time) s on; \(gaps)")
            #expect(heard[first...].count > 30)
        }
    }

    /// ReplayKit may hand over half a second of app sound at once; viewers hear it without a gap.
    @Test(.inItsTurn) func burstsOfHalfASecondAreContinuous() async throws {
        try await blocking {
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            timetable.sound(
                .app, appTone, format: appFormat, from: .zero, to: .seconds(6), block: .milliseconds(500))
            timetable.sound(.microphone, micTone, format: micFormat, from: .zero, to: .seconds(6))
            // The first burst teaches the mixer how late this source is; an eighth of its length, 62 ms, is the margin.
            // One that is later leaves a gap: where a busy machine has made the client late, it is tried again.
            for attempt in 1...3 {
                var lateness = MediaTime.zero
                let audio = try record(
                    timetable, length: .seconds(6), settings: DaemonSettings(), lateness: &lateness)
                let end = audio.start + audio.duration
                let app = levels(audio, 440).filter { $0.time > end - 4.5 && $0.time < end - 1 }
                let gaps = app.filter { abs($0.level - appTone.decibels) > 1.5 }
                #expect(app.count > 60)
                if !gaps.isEmpty, attempt != 3, lateness > .milliseconds(40) { continue }
                #expect(gaps.isEmpty, "\(gaps), the client was up to \(lateness) late")
                return
            }
        }
    }

    /// Every way to store PCM, one after the other within one broadcast, each for half a second.
    @Test(.inItsTurn) func everyEncodingMidStream() async throws {
        try await blocking {
            var formats: [AudioFormat] = []
            for encoding in PCMEncoding.allCases {
                for (rate, channels, isBig, isInterleaved) in [
                    (48_000, 2, true, true), (44_100, 1, true, false), (32_000, 6, false, true),
                    (96_000, 2, false, false),
                ] {
                    formats.append(
                        AudioFormat(
                            sampleRate: rate, channels: channels, encoding: encoding, isBigEndian: isBig,
                            isInterleaved: isInterleaved))
                }
            }
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            for (index, format) in formats.enumerated() {
                let from = MediaTime.milliseconds(Int64(index) * 500)
                timetable.sound(.app, appTone, format: format, from: from, to: from + .milliseconds(500))
            }
            let length = MediaTime.milliseconds(Int64(formats.count) * 500)
            let audio = try record(timetable, length: length)
            let heard = levels(audio, 440)
            guard let first = heard.firstIndex(where: { $0.level > appTone.decibels - 1 }) else {
                Issue.record("nothing was heard")
                return
            }
            // The middle of each half second; around a change a resampler starts anew.
            for (index, format) in formats.enumerated() {
                let from = heard[first].time + Double(index) * 0.5 + 0.15
                let middle = audio.samples(channel: 0, from: from, to: from + 0.2)
                let level = ToneAnalysis.level(of: 440, in: middle, sampleRate: audio.sampleRate)
                // Six channels become two by a downmix with its own weights.
                let tolerance = format.channels > 2 ? 4.0 : 1.0
                #expect(abs(level - appTone.decibels) < tolerance, "\(format): \(level) dBFS")
                #expect(ToneAnalysis.rms(middle) - level < 1, "\(format): noise beside the tone")
            }
        }
    }

    /// A flash and a beep with the same PTS reach the viewer within 40 ms of each other.
    @Test(.inItsTurn) func flashAndBeepStayTogether() async throws {
        try await blocking {
            func plain(_ grey: Float) -> RawSample {
                RawSample(RGBImage(width: 320, height: 180, filling: RGB(grey, grey, grey)), format: .i420)
            }
            let (dark, bright) = (plain(0.05), plain(0.95))
            let silence = Tone(frequency: 440, amplitude: 0)
            let beep = Tone(frequency: 2000, amplitude: 0.5)
            let length = MediaTime.seconds(5)
            let events: [MediaTime] = [.milliseconds(1200), .milliseconds(2400), .milliseconds(3600)]
            var timetable: [(at: MediaTime, action: Playback.Action)] = []
            var from = MediaTime.zero
            for event in events {
                let end = event + .milliseconds(300)
                timetable.show(dark, from: from, to: event, every: .milliseconds(40))
                timetable.sound(.app, silence, format: appFormat, from: from, to: event)
                timetable.show(bright, from: event, to: end, every: .milliseconds(40))
                timetable.sound(.app, beep, format: appFormat, from: event, to: end)
                from = end
            }
            timetable.show(dark, from: from, to: length, every: .milliseconds(40))
            timetable.sound(.app, silence, format: appFormat, from: from, to: length)

            let stage = try Stage(FlashAndBeep.settings)
            let playback = try stage.live(showing: dark)
            try playback.play(timetable)
            try playback.client.finish()
            let recording = try stage.server.finishedRecording()

            try FlashAndBeep(recording).expectTogether(events.count)
            try stage.checkRecording(recording)
            try stage.end()
        }
    }
}
