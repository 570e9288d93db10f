import Foundation
import TestSupport
import Testing

/// When a viewer of a recording sees the picture become bright and hears the sound begin.
struct FlashAndBeep {
    /// Every picture is encoded, so that a flash is known to 40 ms; and where a busy machine sends the first bright one
    /// late, no repeat of the dark one takes its place.
    static var settings: DaemonSettings {
        var settings = DaemonSettings.patient
        settings.video["skip_unchanged"] = "false"
        settings.video["idle_repeat_ms"] = "5000"
        return settings
    }

    /// On a busy machine frames are superseded, the first bright one too: a flash happened after the last dark frame
    /// and not after the first bright one.
    private(set) var flashes: [ClosedRange<Double>] = []
    private(set) var beeps: [Double] = []

    /// - Parameters:
    ///   - recording: of dark or bright pictures of 320x180 and a beep of less than 0.6 s with each flash.
    init(_ recording: String) throws {
        var seen: [ClosedRange<Double>] = []
        var last: (pts: Double, isBright: Bool) = (0, false)
        try DecodedVideo.forEachFrame(of: recording) { frame in
            let isBright = frame.image.meanLuma(x: 320, y: 180) > 125
            if isBright && !last.isBright { seen.append(last.pts...frame.pts) }
            last = (frame.pts, isBright)
        }
        flashes = seen
        let audio = try DecodedAudio(recording)
        var at = audio.start
        while let onset = ToneAnalysis.onset(
            in: audio.samples(channel: 0, from: at, to: audio.start + audio.duration), above: 0.2)
        {
            beeps.append(audio.start + Double(onset) / Double(audio.sampleRate))
            at = beeps.last! + 0.6
        }
    }

    /// Each flash and its beep are within 40 ms of each other.
    func expectTogether(_ count: Int) {
        #expect(flashes.count == count)
        #expect(beeps.count == count)
        for (flash, beep) in zip(flashes, beeps) {
            print("flash at \(flash.lowerBound) to \(flash.upperBound) s, beep at \(beep) s")
            #expect(beep > flash.lowerBound - 0.040 && beep < flash.upperBound + 0.040, "\(flash), \(beep)")
        }
    }
}
